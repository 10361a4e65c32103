"""The exam on a session of which every figure can be counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import exam
from benchmarks.exam_measures import noise
from benchmarks.exam_questions import NEAR, Sitting, find_sittings, half_of, load_questions, tells
from benchmarks.exam_untrue import lines_of
from benchmarks.hindcast import OURS
from benchmarks.hindcast import SUMMARY as SUMMARY_ALONE
from tests import builders

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
