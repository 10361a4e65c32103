"""How many lines of an agent `unified-state blame` gives to the right turn, and what it costs beside `git blame`.

    python -m benchmarks.blame FOLDER              # sessions of Claude Code, *.jsonl or *.jsonl.xz
    python -m benchmarks.blame --commits N         # the time, on one of 50 files in a history of N commits

The history of each session's project is rebuilt from what the client wrote beside its edits (`toolUseResult`: the file
before and the change). The truth is `git blame` where every edit is a commit of its own. It is compared with
`unified-state blame` where every turn is one commit (`as committed`), where nothing is committed since the first state
of the files, and after `rebase -i`, a squash merge and a move of every file (`rewritten`).
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.arguments import described
from benchmarks.side_by_side import Contender, compare
from benchmarks.transcripts import find_transcripts, parse, read_lines
from benchmarks.world import PROGRAM, World

OTHER = "other"  # the commit of what no recorded edit wrote
VARIANTS = ("as committed", "uncommitted", "rewritten")
ROUNDS = 7
FILES, FILE = 50, "file_7.py"


class Change(NamedTuple):
    """An edit: its call, its time in seconds, the prompt it belongs to, the file, and its content before and after."""

    call: str
    at: int
    prompt: int
    path: str
    before: str
    after: str


def changes(lines: list[str]) -> Iterator[Change]:
    """The edits of a session in the files of its folder, in order."""
    prompt, contents, root = 0, dict[str, str](), ""
    for entry in map(parse, lines):
        root = root or str(entry.get("cwd") or "")
        content = (entry.get("message") or {}).get("content")
        if entry.get("type") == "user" and isinstance(content, str) and not entry.get("isMeta"):
            prompt += 1
        told = entry.get("toolUseResult")
        if not isinstance(told, dict) or not isinstance(told.get("filePath"), str) or not isinstance(content, list):
            continue
        inside = told["filePath"].startswith(f"{root}/")
        path = told["filePath"][len(root) + 1 :]
        if not inside or entry.get("isSidechain"):
            continue
        before = told.get("originalFile")
        before = contents.get(path, "") if before is None else before
        if isinstance(told.get("content"), str):
            after = told["content"]
        elif isinstance(told.get("oldString"), str) and told["oldString"] in before:
            after = before.replace(told["oldString"], told["newString"], -1 if told.get("replaceAll") else 1)
        else:
            continue
        contents[path] = after
        yield Change(content[0]["tool_use_id"], _seconds(entry["timestamp"]), prompt, path, before, after)


def _seconds(timestamp: str) -> int:
    from datetime import datetime

    return int(datetime.fromisoformat(timestamp).timestamp())


class Repository:
    """A repository in which commits are made at given times."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = environment

    def git(self, *arguments: str, at: int = 0, **variables: str) -> str:
        """Run git, at a time, and return its output."""
        dates = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"} if at else {}
        identity = ("-c", "user.name=n", "-c", "user.email=e@example.invalid")
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.folder, env={**self._environment, **dates, **variables}, check=True, capture_output=True,
        )  # fmt: skip
        return done.stdout.decode(errors="surrogateescape")

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))

    def commit(self, message: str, at: int) -> None:
        """Commit everything, if anything changed."""
        self.git("add", "--all", "--force")
        if self.git("status", "--porcelain"):
            self.git("commit", "--quiet", "--message", message, at=at)

    def blame(self, path: str) -> list[str]:
        """The message of each line's commit, as git blame finds it."""
        found, messages, last = [], dict[str, str](), ""
        for line in self.git("blame", "--porcelain", "--", path).split("\n"):
            if line.startswith("\t"):
                found.append(messages[last])
            elif line.startswith("summary "):
                messages[last] = line.removeprefix("summary ")
            elif len(line.split(" ")[0]) == 40:
                last = line.split(" ")[0]
        return found


def truth_of(repository: Repository, done: list[Change]) -> dict[str, list[str]]:
    """The call that wrote each line of each file, where every edit is a commit."""
    repository.git("init", "--quiet")
    present: dict[str, str] = {}
    for change in done:
        if present.get(change.path, "") != change.before:
            repository.write(change.path, change.before)
            repository.commit(OTHER, change.at)
        repository.write(change.path, change.after)
        repository.commit(change.call, change.at)
        present[change.path] = change.after
    return {path: repository.blame(path) if text else [] for path, text in present.items()}


def build(repository: Repository, done: list[Change], variant: str) -> None:
    """Make the project's history in one of the variants."""
    first = {change.path: change.before for change in reversed(done)}
    for path, text in first.items():
        if text:
            repository.write(path, text)
    repository.commit("the beginning", done[0].at - 60)
    for number, change in enumerate(done):
        repository.write(change.path, change.after)
        is_last = number + 1 == len(done) or done[number + 1].prompt != change.prompt
        if is_last and variant != "uncommitted":
            repository.commit(f"prompt {change.prompt}", change.at + 1)
    if variant == "rewritten":
        _rewrite(repository)


def _rewrite(repository: Repository) -> None:
    branch = repository.git("branch", "--show-current").strip()
    if int(repository.git("rev-list", "--count", "HEAD")) > 2:
        editor = "sed -i -e '3~2s/^pick/fixup/'"
        repository.git("rebase", "--quiet", "--interactive", "--root", GIT_SEQUENCE_EDITOR=editor)
    first = repository.git("rev-list", "--max-parents=0", "HEAD").strip()
    repository.git("checkout", "--quiet", "-b", "public", first)
    repository.git("merge", "--quiet", "--squash", branch)
    repository.commit("all of it", 0)
    for path in repository.git("ls-files", "-z").split("\0")[:-1]:
        target = repository.folder / "moved" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        repository.git("mv", "--", path, f"moved/{path}")
    repository.commit("moved", 0)


def score(world: World, truth: dict[str, list[str]], turns: dict[str, str], variant: str) -> Counter[str]:
    """Count the lines that an agent wrote by what blame says of them, and wrong lines that are called certain."""
    counts: Counter[str] = Counter()
    for path, calls in truth.items():
        name = f"moved/{path}" if variant == "rewritten" else path
        if not calls:
            continue
        command = [PROGRAM, "blame", "--json", name]
        done = subprocess.run(command, cwd=world.project, env=world.environment, stdout=subprocess.PIPE, check=True)
        for group in json.loads(done.stdout)["lines"]:
            for call in calls[group["first"] - 1 : group["last"]]:
                wanted = turns.get(call)
                counts["lines of an agent"] += wanted is not None
                if group["turn"] == wanted:
                    counts["right" if wanted else "rightly nobody's"] += 1
                    counts["right and certain"] += group["certain"]
                else:
                    counts["unknown" if group["turn"] is None else "wrong"] += wanted is not None
                    counts["another's, taken"] += wanted is None
                    counts["wrong and certain"] += group["certain"]
    return counts


def turns_of(world: World) -> dict[str, str]:
    """The turn of each call, from the archive."""
    (path,) = world.home.rglob("archive.db")
    with closing(sqlite3.connect(path)) as archive:
        rows = archive.execute("SELECT tool_use_id, turn FROM step WHERE tool_use_id NOT NULL")
        return {call: f"T{turn}" for call, turn in rows}


def right(folder: Path) -> None:
    """Print what becomes of the lines of every session, in each variant."""
    totals = {variant: Counter[str]() for variant in VARIANTS}
    for path in find_transcripts(folder):
        lines = read_lines(path)
        done = list(changes(lines))
        if not done:
            continue
        with tempfile.TemporaryDirectory() as name:
            for variant in VARIANTS:
                home = Path(name) / variant.replace(" ", "-")
                world = World(home)
                transcript = home / f"{path.name.split('.')[0]}.jsonl"
                transcript.write_text("\n".join([*lines, ""]), encoding="utf-8")
                world.run("import", str(transcript))
                truth_folder = home / "truth"
                truth_folder.mkdir()
                truth = truth_of(Repository(truth_folder, world.environment), done)
                build(Repository(world.project, world.environment), done, variant)
                counts = score(world, truth, turns_of(world), variant)
                totals[variant] += counts
                print(f"{path.name[:8]}  {variant:12}  {dict(counts)}", flush=True)
                shutil.rmtree(home)
    for variant, counts in totals.items():
        share = counts["right"] / max(1, counts["lines of an agent"])
        print(f"{variant:12}  right {share:.3f}  {dict(counts)}")


def cost(commits: int) -> None:
    """Print the time of both on one file of 50, of 1,000 lines each. A commit changes one; every tenth is an archived
    edit.
    """
    with tempfile.TemporaryDirectory() as name:
        world = World(Path(name))
        calls = _many_commits(world, commits)
        transcript = Path(name) / "5a1e0000-0000-4000-8000-00000000b1a3.jsonl"
        transcript.write_text("".join(calls), encoding="utf-8")
        world.run("import", str(transcript))
        options = {"environment": world.environment, "cwd": str(world.project)}
        compare(
            [
                Contender("git blame", ["git", "blame", "--porcelain", FILE], **options),  # type: ignore[arg-type]
                Contender("unified-state blame", [PROGRAM, "blame", FILE], **options),  # type: ignore[arg-type]
                Contender("unified-state blame of 10 lines", [PROGRAM, "blame", f"{FILE}:500-509"], **options),  # type: ignore[arg-type]
            ],
            ROUNDS,
        )


def _many_commits(world: World, commits: int) -> list[str]:
    """Make the commits, and return the lines of a transcript with the edits."""
    files = {f"file_{number}.py": [f"value_{place} = {place}" for place in range(1000)] for number in range(FILES)}
    stream: list[bytes] = []
    entries: list[str] = []
    for number in range(commits):
        at = 1_700_000_000 + number * 60
        name, lines = list(files.items())[number // 10 % FILES]
        place = number * 7919 % 1000
        before, lines[place] = lines[place], f"value_{place} = compute({number})"
        if number % 10 == 0:
            entries += _edit(world, name, number, at - 5, before, lines[place])
        changed = files if number == 0 else [name]
        stream.append(f"commit refs/heads/many\ncommitter n <e@example.invalid> {at} +0000\ndata 6\nchange\n".encode())
        for path in changed:
            text = "\n".join([*files[path], ""]).encode()
            stream.append(f"M 644 inline {path}\ndata {len(text)}\n".encode() + text + b"\n")
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=world.project, env=world.environment, input=b"".join(stream), check=True,
    )  # fmt: skip
    for command in (["checkout", "--quiet", "--force", "many"], ["commit-graph", "write", "--reachable"]):
        subprocess.run(["git", *command], cwd=world.project, env=world.environment, check=True, capture_output=True)
    return entries


def _edit(world: World, name: str, number: int, at: int, before: str, after: str) -> list[str]:
    from datetime import UTC, datetime

    time = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    fields = {"file_path": str(world.project / name), "old_string": before, "new_string": after}
    call = {"type": "tool_use", "id": f"c{number}", "name": "Edit", "input": fields}
    told = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "The file has been updated."}
    contents: list[tuple[str, Any]] = [("user", f"Change {number}"), ("assistant", [call]), ("user", [told])]
    return [
        json.dumps(
            {
                "type": role, "uuid": f"{number:08x}-0000-4000-8000-{place:012x}", "timestamp": time,
                "sessionId": "5a1e0000-0000-4000-8000-00000000b1a3", "cwd": str(world.project), "parentUuid": None,
                "message": {"role": role, "content": content},
            }
        ) + "\n"
        for place, (role, content) in enumerate(contents)
    ]  # fmt: skip


def main() -> None:
    """Print the shares, or the times."""
    parser = described(__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--commits", type=int)
    arguments = parser.parse_args()
    if arguments.folder is not None:
        right(arguments.folder)
    if arguments.commits is not None:
        cost(arguments.commits)


if __name__ == "__main__":
    main()
