"""The exam on a session of which every figure can be counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import exam
from benchmarks.exam_measures import noise
from benchmarks.exam_questions import NEAR, Sitting, find_sittings, half_of, load_questions, tells
from benchmarks.exam_untrue import lines_of, untrue
from benchmarks.hindcast import OURS
from benchmarks.hindcast import SUMMARY as SUMMARY_ALONE
from benchmarks.hindcast_cases import Case
from tests import builders

BACKGROUND = "Command running in background with ID: b12. Output is being written to: x.output"
ERROR = "tests/test_retry.py:9: AssertionError: expected 17 retries, got 3"

SUMMARY = "The user wants the retry limit raised."
QUESTIONS = [
    {"kind": "value", "q": "How many retries?", "answer": "17 retries", "must": ["RETRY_LIMIT", "17"]},
    {"kind": "rule", "q": "What does the user want?", "answer": "a higher limit", "must": ["retry limit", "raised"]},
    {"kind": "place", "q": "Who owns it?", "answer": "nobody told", "must": ["the moon"]},
]
TESTS = "pytest tests/test_retry.py"
RULE = "Please never touch the old proxy while you are at it."


class Session:
    """Entries that are numbered as they come."""

    def __init__(self) -> None:
        self.entries: list[builders.Entry] = []

    def say(self, text: str) -> None:
        self.entries.append(builders.prompt(len(self.entries), text))

    def tell(self, text: str) -> None:
        self.entries.append(builders.answer(len(self.entries), text))

    def call(self, tool: str, result: str, **given: object) -> None:
        name = f"toolu_{len(self.entries)}"
        self.entries.append(builders.answer(len(self.entries), builders.call(name, tool, **given)))
        self.entries.append(builders.result(len(self.entries), name, result))

    def compact(self) -> None:
        self.entries.append(builders.boundary(len(self.entries)))
        self.entries.append(builders.summary(len(self.entries), SUMMARY))

    def write(self, path: Path) -> None:
        builders.write_transcript(path, *self.entries)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of one session with two compactions: a file is read and edited and a test run; then it is read again."""
    session = Session()
    session.say(f"Raise the limit in src/retry.py.\n{RULE}\n```\nfence() never counts here\n```")
    session.say("go on")
    session.say("<command-name>/review</command-name>\n<command-args>look at the proxy too</command-args>")
    session.call("Read", "1→RETRY_LIMIT = 17\n2→unused_name = 4", file_path="/p/src/retry.py")
    session.call("Bash", "3 passed", command=TESTS)
    session.tell("The proxy gives up earlier than the 17 retries of RETRY_LIMIT in src/retry.py.")
    session.compact()
    session.call("Read", "1→RETRY_LIMIT = 17\n2→unused_name = 4", file_path="/p/src/retry.py")
    session.call("Edit", "ok", file_path="/p/src/retry.py", old_string="RETRY_LIMIT = 17", new_string="brand_new_name")
    session.call("Bash", "3 passed", command=f"make it && {TESTS}")
    session.say("and now the documentation")
    session.compact()
    session.tell("done")
    session.write(tmp_path / "transcripts" / "0a1b2c3d.jsonl")
    (tmp_path / "exam").mkdir()
    cases = [{"case": "0a1b2c3d#0", "questions": QUESTIONS}]
    (tmp_path / "exam" / "questions.json").write_text(json.dumps(cases), encoding="utf-8")
    said = [{"case": "0a1b2c3d", "prompt": 0, "must": ["never touch the old proxy"]}]
    (tmp_path / "exam" / "said.json").write_text(json.dumps(said), encoding="utf-8")
    return tmp_path


@pytest.fixture
def sittings(folder: Path) -> list[Sitting]:
    """Both compactions of that session."""
    return find_sittings(folder / "transcripts", load_questions(folder / "exam" / "questions.json"))


def test_a_fact_is_told_where_its_strings_stand_near_each_other() -> None:
    must = ("RETRY_LIMIT|retry limit", "17")
    assert tells("the `Retry\n limit`\tis '17'", must)
    assert tells("17" + "x" * (NEAR - 2) + "retry_limit", must)
    assert not tells("17" + "x" * (NEAR - 1) + "retry_limit", must)
    assert tells("17" + "x" * NEAR + "retry_limit 17", must)
    assert not tells("the retry limit", must)


def test_noise_is_a_line_of_which_nothing_was_used(sittings: list[Sitting]) -> None:
    text = "[WORKING SET]\nsrc/old.py: unused_name\nsrc/retry.py: brand_new_name\nmake it\nmake sure\n====\nwords"
    found = {line.text: is_noise for line, is_noise in noise(sittings[0].case, lines_of(text))}
    assert found == {
        "[WORKING SET]": True,
        "src/old.py: unused_name": True,
        "src/retry.py: brand_new_name": False,
        "make it": False,
        "make sure": True,
        "words": True,
    }
    assert {line.section for line in lines_of(text)} == {"working set"}


def test_the_command_prints_every_method_and_compares_runs(
    folder: Path, sittings: list[Sitting], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = str(folder / "results.json")
    assert exam.main([str(folder), "--tokens", "300", "--json", kept, "--failing"]) == 0
    printed = capsys.readouterr().out
    rows = {line[:22].strip(): line[22:].split() for line in printed.splitlines()}
    assert [rows[method][0] for method in exam.METHODS.values()] == [".333", *[".667"] * 5]
    assert rows[SUMMARY_ALONE][-4:] == ["1.00", "1.00", ".000", "-"]  # lost words and prompts, said, noise
    assert "place: Who owns it? (the moon)" in printed
    arguments = [
        str(folder),
        "--tokens",
        "300",
        "--only",
        "ours",
        "--set",
        "1",
        "--half",
        half_of(sittings[0].case.project),
    ]
    assert exam.main([*arguments, "--against", kept]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{OURS} 300: +0.000 +0.00 to +0.00"


@pytest.fixture
def past(tmp_path: Path) -> Case:
    """A session in which much has passed: a failure, a task, edits that were committed, a task in the background."""
    session = Session()
    session.say("Please raise the limit in src/retry.py")
    tasks = [("Raise the retry limit", "completed"), ("Write the release notes", "pending")]
    session.call("TodoWrite", "ok", todos=[{"content": content, "status": status} for content, status in tasks])
    session.call("TaskCreate", "Task #1 created successfully", subject="Read the whole manual")
    session.call("TaskCreate", "Task #2 created successfully", subject="Ask for a review")
    session.call("TaskList", "#1 [completed] Read the whole manual\n#2 [in_progress] Ask for a review [blocked by #1]")
    session.call("Edit", "ok", file_path="/p/src/retry.py", old_string="a", new_string="b")
    session.call("Bash", f"Exit code 1\n{ERROR}", command=f"{TESTS} 2>&1 | tail")
    session.call("Bash", "3 passed", command=f"{TESTS} && git status")
    session.call("Bash", "[main 1234567] Raise it\n 1 file changed", command="git add src/retry.py && git commit -m x")
    session.call("Edit", "ok", file_path="/p/src/open.py", old_string="a", new_string="b")
    session.call("Bash", "Exit code 2", command="make lint")
    session.call("Bash", BACKGROUND, command="make build")
    session.call("TaskOutput", "<task_id>b12</task_id>\n<status>completed</status>\n<exit_code>0</exit_code>")
    session.compact()
    session.tell("done")
    session.write(tmp_path / "0a1b2c3d.jsonl")
    (sitting,) = find_sittings(tmp_path, {})
    return sitting.case


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (f"command: {TESTS} 2>&1 | tail -> failed: {ERROR}", "failed (later: "),
        ("command: make lint -> ended: fine", "ended"),
        (f"command: make build -> ended: {BACKGROUND}", "background"),
        ("[UNFINISHED]\n  not committed (no commit seen): src/open.py, src/retry.py", "committed (src/retry.py)"),
        (f"[UNFINISHED]\n  not run since the last edit of src/retry.py: `{TESTS} &&…`", "checked ("),
        ("[TODO] 1\n  - Raise the retry limit", "task (Raise the retry limit)"),
        ("[NOW]\n  in progress: Read the whole manual", "task (Read the whole manual)"),
    ],
)
def test_what_the_log_contradicts_is_untrue(past: Case, line: str, wrong: str) -> None:
    (found,) = untrue(past, lines_of(line))
    assert found.startswith(wrong)


@pytest.mark.parametrize(
    "line",
    [
        f"command: {TESTS} 2>&1 | tail -> failed: {ERROR}\ncommand: {TESTS} && git status -> ended: 3 passed",
        "command: make build -> ended: completed",
        "[UNFINISHED]\n  not committed (no commit seen): src/open.py",
        f"[UNFINISHED]\n  not run since the last edit of src/open.py: `{TESTS} 2>&1 | tail`",
        "[TODO] 1\n  - Write the release notes\n  - Raise the retry limit (done)",
        "[NOW]\n  in progress: Ask for a review",
        f"[LAST TURNS]\nT1 (1 min ago) $ {TESTS} 2>&1 | tail -> failed: {ERROR}",
    ],
)
def test_what_still_holds_or_tells_of_the_past_is_true(past: Case, line: str) -> None:
    assert untrue(past, lines_of(line)) == []
