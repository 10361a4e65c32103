"""The exam on a session of which every figure can be counted by hand."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from benchmarks import exam
from benchmarks.averages import Average, pooled
from benchmarks.exam_measures import Piece, held_rework, lines_of, noise, pieces_of, rework
from benchmarks.exam_questions import NEAR, REPORT, TUNE, Sitting, find_sittings, half_of, load_questions, tells
from benchmarks.exam_wrong import past_of, wrong_lines
from benchmarks.hindcast import OURS
from benchmarks.hindcast import SUMMARY as SUMMARY_ALONE
from tests import builders

SUMMARY = "The user wants the retry limit raised."
SECRET = "seventeen"  # what a reader that is not blind would know
QUESTIONS = [
    {"kind": "value", "q": "How many retries?", "answer": f"{SECRET} retries", "must": ["RETRY_LIMIT", "17"]},
    {"kind": "rule", "q": "What does the user want?", "answer": "a higher limit", "must": ["retry limit", "raised"]},
    {"kind": "place", "q": "Who owns it?", "answer": "nobody told", "must": ["the moon"]},
]
TESTS = "pytest tests/test_retry.py"
ERROR = "tests/test_retry.py:9: AssertionError: expected 17 retries, got 3"
_EDITS = (
    ("retries = read_retries()", "def gone_helper(): ...\ndef kept_helper(): ..."),
    ("def gone_helper(): ...", "retries = kept_helper()"),
)


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One session: a file is read and edited, a test fails and passes, a file is removed, a task done. After the
    compaction the file is read again, and one of its lines is used.
    """
    session = Session()
    session.say("Please raise the limit in src/retry.py")
    session.call("Read", "1→RETRY_LIMIT = 17\n2→unused_name = 4\n3→old_retry_name = 3", file_path="/p/src/retry.py")
    tasks = [("Raise the retry limit", "completed"), ("Write the release notes", "pending")]
    todos = [{"content": content, "status": status} for content, status in tasks]
    session.call("TodoWrite", "ok", todos=todos)
    session.call("Bash", f"Exit code 1\n{ERROR}", command=f"{TESTS} 2>&1 | tail")
    for old, new in _EDITS:
        session.call("Edit", "ok", file_path="/p/src/retry.py", old_string=old, new_string=new)
    session.call("Bash", "3 passed", command=f"{TESTS} && git status")
    session.call("Bash", "", command="rm -f src/scratch.py src/again.py")
    session.call("Write", "ok", file_path="/p/src/again.py", content="x = 1")
    session.tell("The proxy gives up earlier than the 17 retries of RETRY_LIMIT in src/retry.py.")
    session.compact()
    session.call("Read", "1→RETRY_LIMIT = 17\n2→unused_name = 4\n3→brand_new_name = 5", file_path="/p/src/retry.py")
    shown = "3→old_retry_name = 3"  # an edit shows what is around it: nobody looked that up
    session.call("Edit", shown, file_path="/p/src/retry.py", old_string="RETRY_LIMIT = 17", new_string="brand_new_name")
    session.call("Write", "ok", file_path="/p/src/old.py", content="old_retry_name = 3")
    builders.write_transcript(tmp_path / "transcripts" / "0a1b2c3d.jsonl", *session.entries)
    return tmp_path / "transcripts"


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A file of questions about that session."""
    path = tmp_path / "questions.json"
    path.write_text(json.dumps([{"case": "0a1b2c3d#0", "questions": QUESTIONS}]), encoding="utf-8")
    return path


@pytest.fixture
def sitting(folder: Path, questions: Path) -> Sitting:
    """The compaction of that session with its questions."""
    (found,) = find_sittings(folder, load_questions(questions))
    return found


def test_a_fact_is_told_where_its_strings_stand_near_each_other() -> None:
    must = ("RETRY_LIMIT|retry limit", "17")
    assert tells("the `Retry\n limit`\tis '17'", must)
    assert tells("17" + "x" * (NEAR - 2) + "retry_limit", must)
    assert not tells("17" + "x" * (NEAR - 1) + "retry_limit", must)
    assert tells("17" + "x" * NEAR + "retry_limit 17", must)
    assert not tells("the retry limit", must)


def test_three_strings_stand_near_only_if_all_are_near_each_other() -> None:
    half = "x" * (NEAR // 2 + 10)
    assert not tells(f"one{half}two{half}three", ("one", "two", "three"))


def test_halves_keep_a_session_together_and_share_nothing() -> None:
    names = [f"session{number}#{compaction}" for number in range(9) for compaction in range(2)]
    tune, report = half_of(names, TUNE), half_of(names, REPORT)
    assert sorted(tune + report) == names
    assert {name[:8] for name in tune}.isdisjoint(name[:8] for name in report)
    assert abs(len(tune) - len(report)) == 2
    assert half_of(list(reversed(names)), TUNE) == list(reversed(tune))


def test_intervals_draw_whole_cases() -> None:
    alike = pooled([[1.0] * 10, [0.0] * 10])
    assert (alike.mean, alike.low, alike.high, alike.count) == (0.5, 0.0, 1.0, 20)
    assert pooled([[1.0, 0.0], [0.0, 1.0], []]) == Average(0.5, 0.5, 0.5, 4)
    assert pooled([[1.0], [0.0, 0.0, 0.0]]).mean == 0.25


def test_rework_is_what_was_seen_before_looked_up_again_and_used(sitting: Sitting) -> None:
    again = rework(sitting.case)
    assert again == [("verbatim", "RETRY_LIMIT = 17"), ("by name", "RETRY_LIMIT")]
    assert held_rework(again, "src/retry.py: unused_name RETRY_LIMIT") == 0.5
    assert held_rework(again, "RETRY_LIMIT  =\n17") == 1.0
    assert held_rework(again, "RETRY_LIMITS = 17") == 0.0
    assert held_rework([], "anything") is None


def test_noise_is_what_nobody_used_or_asked(sitting: Sitting) -> None:
    def served(line: str) -> bool:
        (piece,) = pieces_of(list(lines_of(line)), sitting.case, sitting.questions)
        return piece.serves

    assert served("src/retry.py: RETRY_LIMIT")
    assert served("the moon")
    assert served("a brand_new_name")
    assert not served("also: unused_name, other_name")
    assert noise([Piece("also", "", 3, serves=False), Piece("file", "", 9, serves=True)]) == 0.25
    assert noise([]) is None


def test_a_long_line_is_noise_where_nothing_of_it_is_used(sitting: Sitting) -> None:
    line = "also: RETRY_LIMIT " + " ".join(f"unused_name_{number}" for number in range(40))
    first, *others = pieces_of(list(lines_of(line)), sitting.case, sitting.questions)
    assert first.serves
    assert len(others) > 2
    assert not any(piece.serves for piece in others)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (f"error: {ERROR}", "error"),
        (f"command: {TESTS} 2>&1 | tail -> failed: {ERROR}", "error"),
        ("[TODO] 1\n  - Raise the retry limit", "task"),
        ("[WORKING SET]\nsrc/retry.py: gone_helper kept_helper", "name"),
        ("[WORKING SET]\nsrc/scratch.py", "file"),
    ],
)
def test_what_had_passed_is_wrong_as_current(sitting: Sitting, line: str, kind: str) -> None:
    ((passed, shown),) = wrong_lines(past_of(sitting.case), list(lines_of(line)))
    assert passed.kind == kind
    assert shown == line.splitlines()[-1]


@pytest.mark.parametrize(
    "line",
    [
        f"error, solved since: {ERROR}",
        "command: pytest tests/test_retry.py && git status -> ended: 3 passed",
        "[TODO] 1\n  - Write the release notes",
        "[TODO] 1\n  - Raise the retry limit (done)",
        "[WORKING SET]\nsrc/retry.py: kept_helper\nsrc/again.py",
        "src/scratch.py was removed",
        f"[LAST TURNS]\nT1 (1 min ago) prompt: fix {ERROR}",
    ],
)
def test_what_still_holds_or_says_that_it_has_passed_is_right(sitting: Sitting, line: str) -> None:
    assert wrong_lines(past_of(sitting.case), list(lines_of(line))) == []


def test_the_command_prints_every_method_and_compares_runs(
    folder: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = str(tmp_path / "results.json")
    assert exam.main([str(folder), str(questions), "--tokens", "300", "--json", kept, "--failing"]) == 0
    printed = capsys.readouterr().out
    rows = {line[:24].strip(): line[24:].split() for line in printed.splitlines()}
    assert [rows[method][0] for method in (SUMMARY_ALONE, "last turns", OURS)] == [".333", ".667", ".667"]
    assert "place: Who owns it? (the moon)" in printed
    assert exam.main([str(folder), str(questions), "--tokens", "300", "--against", kept]) == 0
    last = capsys.readouterr().out.splitlines()[-1].split()
    assert last[:5] == ["unified-state", "300", "+.00", "+.00", "+.00"]


def test_results_of_other_questions_are_not_compared(
    folder: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "results.json"
    arguments = [str(folder), str(questions), "--tokens", "300", "--methods", SUMMARY_ALONE]
    assert exam.main([*arguments, "--json", str(kept)]) == 0
    questions.write_text(questions.read_text(encoding="utf-8").replace("Who owns", "Who has"), encoding="utf-8")
    assert exam.main([*arguments, "--against", str(kept)]) == 1
    assert "none of these questions" in capsys.readouterr().err


def test_a_case_without_its_transcript_is_named(
    folder: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions.write_text(json.dumps([{"case": "ffffffff#0", "questions": QUESTIONS}]), encoding="utf-8")
    assert exam.main([str(folder), str(questions)]) == 1
    assert "no compaction ffffffff#0" in capsys.readouterr().err


_READER = """
import pathlib, sys, uuid
prompt = sys.stdin.read()
(pathlib.Path(sys.argv[1]) / uuid.uuid4().hex).write_text(prompt, encoding="utf-8")
if not prompt.startswith("Grade"):
    print("GIVEN" if "How many" in prompt else "unknown")
else:
    print("Right." if "GIVEN" in prompt else "wrong")
"""


def test_a_reader_answers_blind_and_a_grader_sees_no_notes(
    folder: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script, prompts = tmp_path / "reader.py", tmp_path / "prompts"
    script.write_text(_READER, encoding="utf-8")
    prompts.mkdir()
    command = shlex.join([sys.executable, str(script), str(prompts)])
    arguments = [str(folder), str(questions), "--tokens", "300", "--methods", OURS, "--reader", command]
    assert exam.main(arguments) == 0
    rows = {line[:24].strip(): line[24:].split()[0] for line in capsys.readouterr().out.splitlines() if line[24:]}
    assert rows[f"{OURS}{exam.READ}"] == f"{(1 - 0.5 - 0.5) / 3:.3f}"[1:]
    sent = [path.read_text(encoding="utf-8") for path in prompts.iterdir()]
    read = [prompt for prompt in sent if not prompt.startswith("Grade")]
    graded = [prompt for prompt in sent if prompt.startswith("Grade")]
    assert len(read) == len(graded) == len(QUESTIONS)
    for prompt in read:
        assert SUMMARY in prompt
        assert "[CONTEXT RESTORED]" in prompt
        assert SECRET not in prompt
        assert "the moon" not in prompt
        assert sum(str(question["q"]) in prompt for question in QUESTIONS) == 1
    for prompt in graded:
        assert SUMMARY not in prompt
        assert "[CONTEXT RESTORED]" not in prompt
        assert "GIVEN" in prompt or "unknown" in prompt.rsplit("answer:", 1)[1]
        assert sum(str(question["answer"]) in prompt for question in QUESTIONS) == 1


@pytest.mark.parametrize(
    ("program", "said"), [("import sys; sys.exit('no model')", "no model"), ("print(1)", "one of")]
)
def test_a_reader_that_fails_ends_the_exam(
    folder: Path, questions: Path, program: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = shlex.join([sys.executable, "-c", program])
    arguments = [str(folder), str(questions), "--tokens", "300", "--methods", SUMMARY_ALONE, "--reader", command]
    assert exam.main(arguments) == 1
    assert said in capsys.readouterr().err
