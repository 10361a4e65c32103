"""What `unified-state audit` costs in a long archive, beside `node -e 0`, and what it finds in real sessions.

python -m benchmarks.audit [--steps 50000] [--items 2000] [--files 5000]
python -m benchmarks.audit --sessions FOLDER     # the findings, to be read; the projects are rebuilt from the edits
"""

from __future__ import annotations

import random
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.arguments import described
from benchmarks.blame import Repository, build, changes
from benchmarks.long_archive import file_name, word, write_archive
from benchmarks.side_by_side import Contender, compare, node
from benchmarks.transcripts import find_transcripts, parse, read_lines
from benchmarks.world import PROGRAM, World
from unified_state.lib.times import to_text
from unified_state.lib.uuids import new_uuid
from unified_state.memory.archive.archive import Archive
from unified_state.memory.ledger.item_table import insert_item, next_alias
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, MAIN_FIELDS, QUESTION, LedgerItem

ROUNDS = 5
BEGIN = 1_760_000_000_000
BODIES: dict[str, dict[str, Any]] = {
    DECISION: {"decision": "", "rationale": "it was measured", "reversible": True},
    CONSTRAINT: {"constraint": "", "source": "the user", "blocking": False},
    QUESTION: {"question": "", "context": "the review", "priority": "medium"},
    EVIDENCE: {"type": "output", "content": "", "source": "pytest -q"},
}


def main(arguments: list[str] | None = None) -> None:
    """Measure the time, or print findings."""
    parser = described(__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--items", type=int, default=2_000)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--sessions", type=Path, metavar="FOLDER", help="print the findings in these sessions")
    options = parser.parse_args(arguments)
    if options.sessions:
        show_findings(options.sessions)
    else:
        measure(options.steps, options.items, options.files)


def measure(steps: int, items: int, files: int) -> None:
    """Print the time of an audit and of `node -e 0`."""
    with tempfile.TemporaryDirectory() as name:
        world = World(Path(name), files)
        world.run("decision", "add", "first", "--rationale", "x")
        (path,) = world.home.rglob("archive.db")
        write_archive(path, steps)
        with Archive(str(path)) as archive, archive.transaction():
            for item in recorded(items, archive):
                insert_item(archive, item)
        command = ["sh", "-c", f"{PROGRAM} audit || test $? = 1"]  # it exits with 1 if it finds something
        own = Contender("unified-state audit", command, environment=world.environment, cwd=str(world.project))
        compare([node(), own], ROUNDS)


def recorded(count: int, archive: Archive) -> list[LedgerItem]:
    """Items of all kinds, each of which names a file and an identifier."""
    chance, kinds, items = random.Random(1), list(BODIES), []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        words = " ".join(word(chance.randrange(2_000)) for _ in range(8))
        text = f"{word(200 + number)}_{word(number)} in {file_name(number % 300)} {words}"
        at = to_text(BEGIN + number * 60_000)
        items.append(
            LedgerItem(
                uuid=new_uuid(BEGIN + number * 60_000), alias=next_alias(archive, kind), kind=kind, status="active",
                body={**BODIES[kind], MAIN_FIELDS[kind]: text}, origin="inferred", created_at=at,
            )
        )  # fmt: skip
    return items


def show_findings(folder: Path) -> None:
    """Print the findings in each session, whose project is rebuilt from its edits."""
    for path in find_transcripts(folder):
        lines = read_lines(path)
        done = list(changes(lines))
        root = next((str(entry["cwd"]) for entry in map(parse, lines) if entry.get("cwd")), "")
        if not done or not root:
            continue
        with tempfile.TemporaryDirectory() as name:
            world = World(Path(name))
            transcript = Path(name) / f"{path.name.split('.')[0]}.jsonl"
            text = "\n".join([*lines, ""])
            for end in ("/", '"'):
                text = text.replace(f"{root}{end}", f"{world.project}{end}")
            transcript.write_text(text, encoding="utf-8")
            build(Repository(world.project, world.environment), done, "as committed")
            world.run("import", str(transcript))
            command = [PROGRAM, "audit"]
            told = subprocess.run(command, cwd=world.project, env=world.environment, capture_output=True, check=False)
            print(f"{path.name[:8]}  {told.stdout.decode()}", flush=True)


if __name__ == "__main__":
    main()
