"""How many files of the package one action of a user enters.

A file counts if one of its functions is called between the parsed arguments (for a hook: the process's start) and the
printed answer. Importing a module calls none of its functions, so what only runs while a module is imported does not
count, and neither does `lib/`, which knows nothing of the product. The repository and its archive exist already.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.builders import SESSION, prompt, write_transcript
from unified_state.archive.archive import Archive
from unified_state.project.place import locate
from unified_state.settings import default_data_dir

ROOT = Path(__file__).parents[2]
# What a decision needs each file for. None of them only passes the call on: each asks, decides or writes something that
# the promises of a recorded item rest on. Two files of a group stay apart where a hook loads one without the other.
FOR_A_DECISION = {
    "the command": (
        "interfaces/cli/command_context.py",
        "interfaces/cli/commands/items.py",
    ),
    "the settings, the repository and the session that the command belongs to": (
        "settings.py",
        "project/place.py",
        "project/find_repository.py",
    ),
    "the archive, whether it is whole, and whether events wait for it": (
        "project/workspace/workspace.py",
        "archive/archive.py",
        "archive/schema/ledger_check.py",
    ),
    "no secret in its words or in the branch's name": ("secrets/rules/mask.py",),
    "the item, and the items that it repeats": (
        "state_file/writer/record_state.py",
        "ledger/record_item.py",
        "ledger/item_table.py",
        "ledger/rules/same_words.py",
        "ledger/rules/short_item.py",
    ),
    "that it was added, which `undo` takes back": ("ledger/change_log.py",),
    "that other sessions may hear of it": ("hosts/gate/generation.py",),
    "the state file: what it holds already, what is new, what no longer fits": (
        "state_file/state_file.py",
        "archive/session_work.py",
    ),
}
# To be lowered when a journey gets shorter.
MOST_FOR_A_DECISION = 18
MOST_FOR_A_PROMPT = 25

# `enter(action)` calls an action and prints, on the last line of stdout, the files whose functions it called.
ENTER = """
import json, os, sys
root = sys.argv.pop(1)
sys.path.insert(0, root)
package = os.path.join(root, "unified_state", "")


def is_import(frame):
    while frame is not None and frame.f_code.co_filename.startswith(package):
        if frame.f_code.co_name == "<module>":
            return True
        frame = frame.f_back
    return False


def enter(action):
    entered = set()

    def note(frame, event, _argument):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(package) and not is_import(frame):
            entered.add(path[len(package):])

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    print()
    print(json.dumps(sorted(name for name in entered if not name.startswith("lib/"))))
"""

COMMAND = f"""{ENTER}
from unified_state.interfaces.cli.argument_parser import parse
parsed = parse(sys.argv[1:])
enter(lambda: parsed.run(parsed))
"""

PROMPT = f"""{ENTER}
def prompt():
    from unified_state.interfaces import hook
    hook.run("UserPromptSubmit")


enter(prompt)
"""


def files_entered(code: str, *arguments: str, cwd: Path, stdin: str = "") -> list[str]:
    """Run code that begins with `ENTER` and calls `enter` once; return the files that its action entered."""
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT), *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=True,
    )
    files: list[str] = json.loads(done.stdout.splitlines()[-1])
    return files


def test_recording_a_decision_enters_few_files(repository: Path) -> None:
    add = ("decision", "add", "Use SQLite", "--rationale", "one file, no server")
    files_entered(COMMAND, *add, cwd=repository)  # makes the identity and the archive
    entered = files_entered(COMMAND, *add, cwd=repository)
    assert len(entered) <= MOST_FOR_A_DECISION, "\n".join(entered)
    assert sorted(name for names in FOR_A_DECISION.values() for name in names) == entered
    state = json.loads((repository / ".claude" / "unified-session-state.json").read_text(encoding="utf-8"))
    assert [decision["id"] for decision in state["decisions"]] == ["D1", "D2"]


def test_every_kind_of_item_is_recorded_by_the_same_files(repository: Path) -> None:
    files = {name for names in FOR_A_DECISION.values() for name in names}
    for add in (
        ("question", "add", "Which port?", "--context", "8000 is taken"),
        ("evidence", "add", "error", "E1: no such file", "--source", "make"),
        ("attempt", "add", "Pin numpy 2", "--outcome", "breaks on 3.11"),
    ):
        files_entered(COMMAND, *add, cwd=repository)
        assert set(files_entered(COMMAND, *add, cwd=repository)) == files, add
    # A changed constraint is enforced in addition.
    add = ("constraint", "add", "Keep the API", "--source", "the release")
    files_entered(COMMAND, *add, cwd=repository)
    assert files < set(files_entered(COMMAND, *add, cwd=repository))


def test_a_secret_in_a_decision_enters_the_rules_that_mask_it(repository: Path) -> None:
    add = ("decision", "add", "Use the password=hunter2secret", "--rationale", "it is the only one")
    entered = files_entered(COMMAND, *add, cwd=repository)
    assert {"secrets/masker.py", "secrets/rules/mask.py"} <= set(entered)
    text = (repository / ".claude" / "unified-session-state.json").read_text(encoding="utf-8")
    assert "hunter2secret" not in text
    assert "[MASKED" in text


def test_a_prompt_enters_few_files_until_its_step_is_on_disk(repository: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    entered: list[str] = []
    for number in (1, 2):  # the first makes the identity and the archive
        write_transcript(path, *(prompt(one, f"Do it {one}.") for one in range(1, number + 1)))
        given = {"session_id": SESSION, "transcript_path": str(path), "cwd": str(repository), "prompt": "Do it again."}
        entered = files_entered(PROMPT, cwd=repository, stdin=json.dumps(given))
        place = locate(str(repository), default_data_dir(), create=False)
        with Archive(place.archive_path) as archive:
            assert archive.row("SELECT count(*) FROM step") == (number,)
    assert len(entered) <= MOST_FOR_A_PROMPT, "\n".join(entered)
    assert {"interfaces/hook.py", "archive/write_steps.py"} <= set(entered)
