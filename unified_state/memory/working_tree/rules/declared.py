"""What the files of build tools declare: the targets and scripts that commands run, and the versions of dependencies.

Nothing is parsed whole. A target counts as undeclared only if its name is nowhere in the file, and a file that includes
others, or has patterns, declares anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from unified_state.lib.identifiers import stands_in
from unified_state.lib.record import Record
from unified_state.memory.working_tree.rules.named import is_version

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_PACKAGE = ("package.json",)
_OWN_SCRIPT = "test"  # that `npm` runs without the word `run`; without a script `npm start` runs `server.js`
_BUILT_IN = "env"  # `npm run env` needs no script
_OF_NPM = ("-w", "--workspace", "--filter", "--prefix", "-C", "--if-present")  # another package, or no error
_SCRIPTS = (".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".ps1", ".bat", ".cmd")
_INTERPRETERS = frozenset(("python", "python3", "bash", "sh", "node", "ruby", "deno"))
_LOOSE = ("$", "*", "?", "~", "<", ">", "|", "{", "}", "\\", "…", "...")  # in a word that is not literal
_OPEN_MAKEFILE = ("include ", "%", "$(eval", "$(foreach")  # what declares targets by other names
_LOCKS = ("uv.lock", "poetry.lock", "Cargo.lock", "package-lock.json", "go.mod", "requirements.txt", "pyproject.toml")
_VERSION_FILES = (*_LOCKS, "package.json")
# Their versions are what code has to run on. The one that a developer uses says nothing about that.
_RUNTIME_NAMES = "bun cpython deno go java node node.js nodejs npm php pnpm python python3 ruby rust yarn"
_RUNTIMES = frozenset(_RUNTIME_NAMES.split())


class Target(Record):
    """What a command needs of the working tree: a name in the first of some files that exists, or a file."""

    files: tuple[str, ...] = ()
    name: str = ""
    path: str = ""


def target_of(command: str) -> Target | None:
    """Return what a command needs; None if that is not known. Of `a && b` the first part counts."""
    words = command.split("&&", maxsplit=1)[0].split()
    if len(words) < 2 or any(mark in command for mark in _LOOSE):  # noqa: PLR2004
        return _script(words[0]) if words and not any(mark in command for mark in _LOOSE) else None
    program, *rest = words
    if program == "make":
        return _made(rest)
    if program == "npm":  # `pnpm run`, `yarn run` and `bun run` also run files and the programs of dependencies
        return _run(rest)
    if program == "just":
        return Target(files=("justfile", "Justfile", ".justfile"), name=rest[0]) if rest[0].isidentifier() else None
    if program in _INTERPRETERS:
        return _script(rest[0]) if not rest[0].startswith("-") else None
    return _script(program)


def _made(rest: list[str]) -> Target | None:
    if any(word.startswith("-") for word in rest):  # `-C` and `-f` name another file
        return None
    names = [word for word in rest if "=" not in word]
    if not names or "/" in names[0] or "." in names[0]:  # a file, for which `make` has rules of its own
        return None
    return Target(files=_MAKEFILES, name=names[0])


def _run(rest: list[str]) -> Target | None:
    names = rest[1:] if rest[0] in {"run", "run-script"} else rest if rest[0] == _OWN_SCRIPT else []
    if not names or any(word.startswith(_OF_NPM) for word in rest):
        return None
    return None if names[0].startswith("-") or names[0] == _BUILT_IN else Target(files=_PACKAGE, name=names[0])


def _script(word: str) -> Target | None:
    """Return the file of a script by a relative path with a folder and an ending: `application/json` is none."""
    path = word.removeprefix("./")
    is_path = "/" in word and not word.startswith(("/", "../", "@")) and "://" not in word and ":" not in path
    return Target(path=path) if is_path and path.endswith(_SCRIPTS) else None


def declares(text: str, name: str) -> bool:
    """Return whether the file of a build tool may declare a target. Text and name are in small letters."""
    return stands_in(name, text) or any(mark in text for mark in _OPEN_MAKEFILE)


def version_files(name: str) -> tuple[str, ...]:
    """Return the files that may pin the version of a dependency, the most exact first; none for an interpreter."""
    return () if name in _RUNTIMES else _VERSION_FILES


def versions_of(file: str, text: str, name: str) -> set[str]:
    """Return the exact versions to which a file pins a name. Ranges are none. Text and name are in small letters."""
    if name not in text:
        return set()
    found = _in_lock(text, name) if file.endswith(".lock") else _in_lines(file, text, name)
    return set(filter(is_version, found))


def _in_lock(text: str, name: str) -> Iterator[str]:
    """Yield the versions in a lock file of TOML tables: `name = "x"`, and `version = "1.2.3"` in the next line."""
    for part in text.split(f'name = "{name}"\nversion = "')[1:]:
        yield part.partition('"')[0]


def _in_lines(file: str, text: str, name: str) -> Iterator[str]:
    if file == "package-lock.json":
        for part in text.split(f'"node_modules/{name}": {{')[1:]:
            yield part.lstrip().removeprefix('"version": "').partition('"')[0]
        return
    if file == "package.json":
        for part in text.split(f'"{name}":')[1:]:
            yield part.lstrip().removeprefix('"').partition('"')[0]
        return
    for line in text.splitlines():
        words = line.strip().strip("\"',").replace("==", " ").split()
        if len(words) > 1 and words[0] == "require":
            words = words[1:]
        if len(words) > 1 and (words[0] == name or (file == "go.mod" and words[0].endswith(f"/{name}"))):
            yield words[1].strip("\"',;").removeprefix("v")
