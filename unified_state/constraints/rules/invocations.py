"""Normalise a command or a pattern of commands.

In the normal form the order and the spelling of options do not matter: `git -C x push origin -fu main` is the program
`git`, the operands `push origin main` and the options `--force` and `--set-upstream`. Words of an unknown program stay
unchanged.
"""

from __future__ import annotations

from unified_state.constraints.rules.globs import glob_matches, has_wildcard
from unified_state.lib.record import Record
from unified_state.lib.shell.shell_line import program_name

# Options that take the next word as a value, by program or by program and first operand.
_VALUED = {
    "git": "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source",
    "git push": "-o --push-option --repo --receive-pack --exec",
    "git commit": "-m -F -C -c -t --message --file --author --date --template --reuse-message --reedit-message "
    "--fixup --squash --cleanup --trailer --pathspec-from-file",
    "git merge": "-m -F -s -X --message --file --strategy --strategy-option --into-name",
    "git rebase": "-s -X -x --strategy --strategy-option --exec --onto",
    "git tag": "-m -F -u --message --file --local-user --cleanup --sort --format",
    "git stash": "-m --message --pathspec-from-file",
    "git checkout": "-b -B --orphan --conflict --pathspec-from-file", "git switch": "-c -C --create --force-create",
    "git reset": "--pathspec-from-file", "git clean": "-e --exclude", "git log": "-n --grep --author --since --until",
    **dict.fromkeys(("cp", "install", "ln", "mv"), "-t -m --target-directory --mode"),
    "docker": "-H -c -l --host --context --config --log-level", "kubectl": "-n -s --namespace --context --cluster "
    "--kubeconfig --user --server --token --as", "helm": "-n --namespace --kube-context --kubeconfig",
    "npm": "-C -w --prefix --workspace --registry --tag", "pnpm": "-C -F --dir --filter", "yarn": "--cwd",
    "make": "-C -f -I -o -W", "cargo": "-C --config --manifest-path -p --package", "gh": "-R --repo",
    "aws": "--profile --region --output --endpoint-url", "gcloud": "--project --account --configuration",
    "curl": "-X -H -d -o -u -F -A -e -b -c -T -K -m -w -x --request --header --data --output --output-dir --user "
    "--form --max-time --write-out --proxy --retry --upload-file",
    "wget": "-O -o -P -a -i -t -T -U -e --output-document --directory-prefix --header --user-agent --tries --timeout "
    "--input-file",
    "patch": "-d -i -o -r -B -p -F -D -V -Y -z --directory --input --output --reject-file --strip",
    "sort": "-o -k -t -S -T --output --key --field-separator --buffer-size --temporary-directory --parallel",
    "pg_dump": "-f -h -p -U -d -n -t -F --file --host --port --username --dbname --schema --table --format",
    "git apply": "-p -C --directory --exclude --include --whitespace",
    "psql": "-c -f -d -h -p -U --command --file --dbname --host --port --username",
}  # fmt: skip
# Long names of short options, by program or by program and first operand. These programs accept bundles such as `-rf`.
_SHORT = {
    "git push": "f=--force d=--delete n=--dry-run u=--set-upstream q=--quiet v=--verbose 4=--ipv4 6=--ipv6",
    "git commit": "a=--all n=--no-verify s=--signoff e=--edit p=--patch q=--quiet v=--verbose i=--include o=--only",
    "git clean": "f=--force d x X q=--quiet n=--dry-run i=--interactive",
    "git checkout": "f=--force q=--quiet", "git switch": "f=--force d=--detach q=--quiet",
    "git branch": "d=--delete D=--delete,--force f=--force m=--move M=--move,--force r=--remotes a=--all",
    "git tag": "f=--force d=--delete a=--annotate s=--sign l=--list",
    "git add": "A=--all f=--force u=--update p=--patch",
    "git rm": "f=--force r n=--dry-run q=--quiet", "git mv": "f=--force k n=--dry-run v=--verbose",
    "git reset": "q=--quiet p=--patch N=--intent-to-add", "git rebase": "i=--interactive f=--force-rebase q=--quiet",
    "git merge": "n=--no-stat q=--quiet", "git pull": "r=--rebase f=--force", "git fetch": "f=--force p=--prune",
    "git stash": "u=--include-untracked a=--all k=--keep-index q=--quiet",
    "rm": "f=--force r=--recursive R=--recursive d=--dir i v=--verbose", "cp": "f=--force r=--recursive R=--recursive "
    "a=--archive n=--no-clobber", "mv": "f=--force n=--no-clobber", "ln": "f=--force s=--symbolic n T",
    "chmod": "R=--recursive f=--silent", "chown": "R=--recursive f=--silent h",
    "npm": "g=--global D=--save-dev f=--force",
    "curl": "s=--silent S=--show-error L=--location f=--fail O=--remote-name", "wget": "q=--quiet",
    "patch": "R=--reverse N=--forward", "sort": "u=--unique r=--reverse n",
}  # fmt: skip
_WHOLE = {"--force", "--all", "--delete"}  # complete options that are also prefixes of other options
_LEAST_ABBREVIATION = 4


class Invocation(Record):
    """A program, its operands in order, its options by their long names: `--name` or `--name=value`."""

    program: str
    operands: tuple[str, ...] = ()
    options: frozenset[str] = frozenset()


def read_invocation(words: list[str]) -> Invocation:
    """Return the normal form of a command's words, or of a pattern's."""
    program = program_name(words[0])
    reading = _Reading(program)
    at, is_open = 1, True
    while at < len(words):
        word = words[at]
        at += 1
        if not is_open or word == "-" or not word.startswith("-"):
            reading.operand(word)
        elif word == "--":
            is_open = False
        else:
            at += reading.option(word, words[at : at + 1])
    return Invocation(program, tuple(reading.operands), frozenset(reading.options))


def covers(pattern: Invocation, command: Invocation) -> bool:
    """Return whether a pattern covers a command: the same program, the same first operands, and all options of the
    pattern. One that only prints its help does nothing.
    """
    operands = command.operands[: len(pattern.operands)]
    return (
        glob_matches(pattern.program, command.program)
        and ("--help" not in command.options or "--help" in pattern.options)
        and len(operands) == len(pattern.operands)
        and all(map(glob_matches, pattern.operands, operands))
        and all(any(_is_option(wanted, option) for option in command.options) for wanted in pattern.options)
    )


def _is_option(wanted: str, option: str) -> bool:
    if wanted == option or option.startswith(f"{wanted}="):
        return True
    if has_wildcard(wanted):
        return glob_matches(wanted, option)
    name = option.partition("=")[0]  # a long option may be abbreviated
    return name not in _WHOLE and len(name) > _LEAST_ABBREVIATION and name[:2] == "--" and wanted.startswith(name)


class _Reading:
    """The state of reading one command. The first operand may select other tables of options."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.operands: list[str] = []
        self.options: set[str] = set()
        self._know(program)

    def _know(self, key: str) -> None:
        self.key = key
        self._valued = set(_VALUED.get(key, "").split())
        bundled = [entry.partition("=") for entry in _SHORT.get(key, "").split()]
        self._short = {sign: (names or f"-{sign}").split(",") for sign, _, names in bundled}

    def operand(self, word: str) -> None:
        """Add a word that is not an option."""
        if not self.operands and f"{self.program} {word}" in _VALUED | _SHORT:
            valued = set() if self.program == "git" else self._valued
            self._know(f"{self.program} {word}")
            self._valued |= valued
            if self.program == "git":
                self.options.clear()  # options before the subcommand belong to git itself
        if self.key == "git push" and self.operands:
            if word.startswith("+"):
                self.options.add("--force")
            elif word.startswith(":") and len(word) > 1:
                self.options.add("--delete")
        self.operands.append(word)

    def option(self, word: str, following: list[str]) -> int:
        """Add an option and return how many of the following words are its value."""
        name = word.partition("=")[0]
        if word.startswith("--"):
            takes = word in self._valued and bool(following)
            self.options.add(f"{word}={following[0]}" if takes else word)
            if self.key == "git push" and name == "--mirror":
                self.options.add("--force")
            return int(takes)
        if word in self._valued:
            self.options.add(f"{word}={following[0]}" if following else word)
            return len(following)
        if not self._short:
            self.options.add(word)
            return 0
        return self._bundle(word, following)

    def _bundle(self, word: str, following: list[str]) -> int:
        for place, sign in enumerate(word[1:], 2):
            if f"-{sign}" in self._valued:
                value = word[place:] or "".join(following)
                self.options.add(f"-{sign}={value}")
                return int(not word[place:] and bool(following))
            self.options.update(self._short.get(sign, (f"-{sign}",)))
        return 0
