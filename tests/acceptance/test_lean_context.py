"""Lean context: the whole is in the archive before the model has the short form, and no doubt ever costs an output."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.amount import amount

from .conftest import Prepared
from .lean import LINES, LONG, LeanSession, output_hook, ref_of, replaced
from .product import Done, Project
from .secrets import secret_texts
from .striking import hook_struck_at

TESTS = "".join(f"test_a.py::test_{n} PASSED\n" for n in range(300)) + "\n==== 300 passed in 1.2s ====\n"
KILLS = amount(1_000, 30)
_LONG = amount(50_000_000, 2_000_000)
FEWEST_POINTS = 5


def fill_lean(project: Project, _folder: Path) -> None:
    """Lean context."""
    assert project.run("install", "--lean", "middle").code == 0


@pytest.fixture
def session(prepared: Prepared, tmp_path: Path) -> LeanSession:
    """A session of a project in which lean context is installed."""
    return LeanSession(prepared(fill_lean), tmp_path / "s.jsonl")


class TestWhole:
    """The whole, after the model had the short form."""

    def test_is_archived_byte_for_byte_before_the_model_has_the_short_form(self, session: LeanSession) -> None:
        shown = session.shell(LONG)
        assert len(shown) < len(LONG) / 2
        assert session.results() == {ref_of(shown): LONG}

    def test_stands_once_and_in_its_place_when_the_transcript_has_come(self, session: LeanSession) -> None:
        first, second = session.shell(LONG), session.shell(TESTS, "pytest -v")
        session.written.text("done")
        session.keep()
        assert session.results() == {ref_of(first): LONG, ref_of(second): TESTS}
        (turn,) = {line["turn"] for line in map(recalled(session), (ref_of(first), ref_of(second)))}
        kinds = [step["kind"] for step in session.project.ask("show", turn)["steps"]]
        assert kinds == ["prompt", "tool_call", "tool_result", "tool_call", "tool_result", "text"]
        results = [line for line in session.project.export("s") if line["kind"] == "tool_result"]
        assert [(line["ref"], line["tool"]) for line in results] == [(ref_of(first), "Bash"), (ref_of(second), "Bash")]

    def test_stands_once_where_the_hook_could_not_answer(self, session: LeanSession) -> None:
        use, done = session.hook("Bash", {"command": "./walk.sh"}, {"stdout": LONG, "stderr": ""}, output_hook())
        assert done.out
        session.result(use, f"{LONG}\nShell cwd was reset")
        session.keep()
        (kept,) = session.results().values()
        assert kept == f"{LONG}\nShell cwd was reset"

    def test_is_kept_where_the_transcript_never_comes(self, session: LeanSession) -> None:
        shown = session.shell(LONG)
        assert session.project.hook("SessionStart", "brief", session_id="other", source="startup").code == 0
        assert recalled(session)(ref_of(shown))["result"] == LONG

    def test_holds_no_secret_and_the_model_reads_what_it_would_have_read(self, session: LeanSession) -> None:
        (secret,) = secret_texts()[:1]
        shown = session.shell(f"{secret}\n{LONG}")
        assert shown.splitlines()[1] == secret.splitlines()[0]
        assert secret not in recalled(session)(ref_of(shown))["result"]


class TestUntouched:
    """What goes to the model as it is."""

    def test_a_subagent_that_may_have_no_way_to_recall(self, session: LeanSession) -> None:
        answer = {"mode": "content", "content": LONG}
        _, done = session.hook("Grep", {"pattern": "step"}, answer, output_hook(), agent_id="a1")
        assert done == (0, "", "")

    def test_where_the_product_is_switched_off(
        self, session: LeanSession, write_settings: Callable[[str], None]
    ) -> None:
        write_settings("enabled = false")
        assert session.shell(LONG) == LONG

    def test_a_second_look_at_the_same_output(self, session: LeanSession) -> None:
        first, second, third = (session.shell(LONG) for _ in range(3))
        assert ref_of(first)
        assert second == third == LONG
        session.keep()
        assert sorted(session.results().values()) == [LONG] * 3

    def test_a_secret_of_several_lines(self, session: LeanSession) -> None:
        """Its mask is one line, so every line behind it would have another number in the archive."""
        key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA75jyBkmxJwmMnvR4LPUFfv1mK9b2\n" * 9
        output = f"{key}-----END RSA PRIVATE KEY-----\n{LONG}"
        assert session.shell(output) == output

    def test_where_another_process_holds_the_archive(self, session: LeanSession) -> None:
        session.shell(TESTS)
        with sqlite3.connect(session.project.archive) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert session.shell(LONG) == LONG
        assert "another process writes" in session.project.log()


class TestBadInput:
    """Whatever an output holds: the original goes on, or the short form is right."""

    @pytest.mark.parametrize(
        "output",
        [
            "\x00\x01\x02\x7f\ufffd" * 4_000,
            '{"a": [1, 2, 3], "b": "' + "y" * _LONG,
            "\udcff\ud83d half an emoji\n" * 900,
        ],
        ids=["binary", "half JSON", "surrogates"],
    )
    def test_is_no_harm(self, session: LeanSession, output: str) -> None:
        shown = session.shell(output)
        if shown != output:
            assert recalled(session)(ref_of(shown))["result"] == output
            assert len(shown) < len(output)
        assert session.project.log() == ""


class TestKilled:
    """Killed between archiving and replacing: the output is in the transcript, or its short form is and the archive has
    the whole.
    """

    def test_however_often_no_output_is_lost(self, session: LeanSession) -> None:
        session.shell(LONG)
        folder = session.project.folder.parent
        outputs: dict[str, str] = {}
        point = kills = shortened = 0
        while kills < KILLS:
            point += 1
            output = LONG.replace("long way", f"way {len(outputs)}")
            answer = {"stdout": output, "stderr": ""}
            command = hook_struck_at(point, folder, output_hook())
            use, done = session.hook("Bash", {"command": "./walk.sh"}, answer, command)
            outputs[use] = output
            session.result(use, replaced(done, answer)["stdout"])
            kills += done.code != 0
            shortened += bool(done.out)
            if done.code == 0:
                assert point > FEWEST_POINTS, "the hook was never struck"
                point = 0
        session.keep()
        kept = [line for line in session.project.export("s") if line["kind"] == "tool_result"][1:]
        assert {line["tool_use_id"]: line["result"] for line in kept} == outputs
        assert len(kept) == len(outputs)
        assert 0 < shortened < len(outputs)


def test_eight_at_once_are_all_kept(session: LeanSession) -> None:
    outputs = [LONG.replace("long way", f"way {number}") for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        shown = list(pool.map(session.alone, outputs))
    refs = {ref_of(text) for text in shown if text not in outputs}
    assert len(refs) > 1
    kept = session.results()
    assert [kept[ref_of(text)] if text not in outputs else text for text in shown] == outputs


def test_the_way_to_recall_is_told_once(session: LeanSession) -> None:
    answers = [{"stdout": LONG.replace("way", f"way {number}"), "stderr": ""} for number in range(2)]
    first, second = (session.hook("Bash", {"command": "./walk.sh"}, answer, output_hook())[1] for answer in answers)
    told = json.loads(first.out)["hookSpecificOutput"]["additionalContext"]
    ref = ref_of(replaced(first, {})["stdout"])
    assert f"show {ref} --lines 200:260" in told
    assert "additionalContext" not in json.loads(second.out)["hookSpecificOutput"]


class TestRecall:
    """Parts of a long output."""

    @pytest.fixture
    def ref(self, session: LeanSession) -> str:
        """A long output that is archived."""
        return ref_of(session.shell(LONG))

    def test_a_range_of_lines(self, session: LeanSession, ref: str) -> None:
        found = session.project.ask("show", ref, "--lines", "201:203")
        assert found["result"].split("\n") == LONG.splitlines()[200:203]
        assert found["part"] == {"lines": LINES, "first": 201, "last": 203}

    def test_the_lines_that_a_pattern_is_found_in(self, session: LeanSession, ref: str) -> None:
        done = session.project.run("show", ref, "--grep", "step 30[12] ")
        head, *lines = done.out.splitlines()
        assert head.endswith("2 of lines 1:400 of 400 match")
        assert lines == [f"{number + 1}:step {number} of the long way to the end" for number in (301, 302)]

    def test_a_pattern_that_explodes_does_not_hang(self, session: LeanSession) -> None:
        ref = ref_of(session.shell(LONG + "a" * 60 + "!\n"))
        done = session.project.run("show", ref, "--grep", "(a+)+$")
        assert refused(done)
        assert "was not done in" in done.err

    def test_status_says_what_was_saved_and_what_it_cost(self, session: LeanSession, ref: str) -> None:
        before = session.project.ask("status")["lean"]
        session.project.run("show", ref, "--lines", "1:100")
        after = session.project.ask("status")["lean"]
        assert (before["outputs"], before["recalls"], after["recalls"]) == (1, 0, 1)
        assert 0 < after["recalledTokens"] < before["savedTokens"] == after["savedTokens"]
        assert "1 output shortened" in session.project.run("status").out


def refused(done: Done) -> bool:
    """Whether a command said in one line what is wrong with what it was given."""
    return done.code == 2 and not done.out and done.err.startswith("unified-state: ") and done.err.count("\n") == 1


def recalled(session: LeanSession) -> Callable[[str], Any]:
    """Recalls refs."""
    return lambda ref: session.project.ask("show", ref)
