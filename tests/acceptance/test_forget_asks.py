"""`forget` and `prune` show what they would take and ask; then they are final."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Prepared
from .product import Project
from .transcripts import Transcript

AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "agent"}


def fill_old(project: Project, folder: Path) -> None:
    """A session of two turns from long ago, a decision and a rule."""
    written = Transcript("s")
    written.prompt("hello swordfish")
    written.prompt("and goodbye")
    project.keep(written, folder / "s.jsonl")
    project.decide("call it swordfish")
    assert project.run("constraint", "add", "Never say marlin", "--source", "me").code == 0


@pytest.fixture
def old(prepared: Prepared) -> Project:
    return prepared(fill_old)


def counts(project: Project) -> tuple[int, int]:
    return len(project.export()), len(project.run("export", "--items").out.splitlines())


FORGETS = {
    "a ref": (("D1",), "1 item (D1)"),
    "a turn": (("T1",), "1 step (S1)"),
    "a session": (("--session", "s"), "2 steps (S1, S2)"),
    "a text": (("--match", "swordfish"), "1 item (D1), 1 step (S1)"),
}


@pytest.mark.parametrize("name", FORGETS)
def test_forget_shows_what_it_would_take_and_asks(old: Project, name: str) -> None:
    command, told = FORGETS[name]
    before = counts(old)
    done = old.at_terminal("forget", *command, answer="n")
    assert (done.code, f"nothing was changed: this forgets {told}" in done.err) == (2, True), done
    assert counts(old) == before
    assert old.at_terminal("forget", *command).code == 0
    assert counts(old) != before


@pytest.mark.parametrize("name", FORGETS)
def test_forget_refuses_without_a_terminal_and_tells_scripts_what_to_do(old: Project, name: str) -> None:
    command, told = FORGETS[name]
    before = counts(old)
    for variables in ({}, AGENT):
        done = old.run("forget", *command, stdin="yes\n", **variables)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert told in done.err
        assert "--yes" in done.err
    assert counts(old) == before
    assert old.run("forget", *command, "--yes").code == 0
    assert counts(old) != before


def test_forget_looks_only_with_dry_run(old: Project) -> None:
    before = counts(old)
    assert old.run("forget", "--match", "swordfish", "--dry-run").out == "would go: 1 item (D1), 1 step (S1)\n"
    assert old.ask("forget", "--session", "s", "--dry-run")["refs"] == ["S1", "S2", "K1"]
    assert "nothing that is archived" in old.run("forget", "--match", "tuna", "--dry-run").out
    assert counts(old) == before


def test_yes_never_covers_a_rule(old: Project) -> None:
    before = counts(old)
    for command in (("C1",), ("--match", "marlin")):
        for variables in ({}, AGENT):
            done = old.run("forget", *command, "--yes", stdin="yes\n", **variables)
            assert (done.code, "only the user forgets C1" in done.err) == (2, True)
        assert old.at_terminal("forget", *command, "--yes", answer="no").code == 2
        assert counts(old) == before
    assert old.at_terminal("forget", "C1", "--yes").code == 0
    assert old.run("constraint", "list", "--all").out == ""


def test_what_is_forgotten_is_final(old: Project) -> None:
    assert old.run("drop", "D1").code == 0
    assert old.run("forget", "D1", "--yes").code == 0
    assert old.run("undo").code == 2
    assert old.run("reopen", "D1").code == 1
    assert old.run("show", "D1").code == 1


def test_prune_shows_what_it_would_take_and_asks(old: Project) -> None:
    before = counts(old)
    done = old.run("forget", "--older-than", "2026-11-22")
    assert (done.code, "(S1 to S2)" in done.err, "--yes" in done.err) == (2, True, True), done
    done = old.at_terminal("forget", "--older-than", "2026-11-22", answer="no")
    assert (done.code, "nothing was changed: this prunes 2 steps (S1 to S2)" in done.err) == (2, True), done
    assert counts(old) == before
    assert old.at_terminal("forget", "--older-than", "2026-11-22").code == 0
    assert counts(old)[0] == 0
