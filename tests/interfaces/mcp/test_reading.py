"""The tools that read: the shapes of the commands' JSON, in pages that no client cuts off."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.amount import amount
from tests.builders import answer as answered
from tests.builders import call as called
from tests.builders import prompt, result
from unified_state.interfaces.cli.main import run
from unified_state.lib.tokens import count_tokens
from unified_state.state_file.manager import UnifiedStateManager

from .asking import answer, refused, text_of
from .asking import call as asked

Keep = Callable[..., None]
MOST_TOKENS, MOST_CHARACTERS = 25_000, 50_000  # what the client takes of one answer
CLAUDE_PER_O200K = 1.6
HOSTILE = {
    "hex": "8f3a9c01e7" * 8_000,
    "emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" * 6_000,
    "control": "\x00\x1b\x07" * 20_000,
}


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a command prints as JSON."""
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def without_page(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "page"}


@pytest.fixture
def here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository as the current folder."""
    monkeypatch.chdir(repository)
    return repository


def test_the_state_is_that_of_load(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manager = UnifiedStateManager(here)
    manager.add_decision("Use SQLite", "one file")
    manager.add_constraint("API v1 stays", "the user", blocking=True)
    manager.save_state()
    assert without_page(answer(here, "list")) == printed(capsys, "load")


def test_an_earlier_state_and_the_changes_since_are_those_of_the_commands(
    here: Path, keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(prompt(1, "hello"))
    manager = UnifiedStateManager(here)
    manager.add_decision("Use SQLite", "one file")
    manager.supersede_decision("D1", "Use PostgreSQL", "two writers")
    found = answer(here, "list", at="2026-01-01")
    assert (found["timestamp"], found["decisions"]) == ("2026-01-01T00:00:00.000Z", [])
    at = manager.history("D2")[-1]["at"]
    assert [one["decision"] for one in answer(here, "list", at=at)["decisions"]] == ["Use PostgreSQL"]
    changed = answer(here, "history", id="2026-01-01", last=at)
    assert without_page(changed) == printed(capsys, "diff", "2026-01-01", at)
    assert [event["ref"] for event in changed["events"]] == ["D1", "D1", "D2"]
    assert "no time and no commit here" in refused(here, "list", at="nothing")


def test_an_item_a_step_and_a_turn_are_those_of_recall(
    here: Path, keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    UnifiedStateManager(here).add_decision("Use SQLite", "one file")
    keep(prompt(1, "hello"), answered(2, called("t1", "Bash", command="ls")), result(3, "t1", "a.py"))
    for ref in ("D1", "T1", "S1", "S3"):
        assert without_page(answer(here, "show", id=ref)) == printed(capsys, "show", ref)
    assert answer(here, "show", id="T1", turn=True) == answer(here, "show", id="T1")


def test_a_search_has_the_hits_of_the_command(here: Path, keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    keep(*(prompt(number, f"hello parser {number}") for number in range(1, 9)))
    found = answer(here, "search", query="parser", limit=5)
    hits = printed(capsys, "search", "--limit", "5", "parser")  # what was found once stands a little higher
    assert [{**hit, "score": 0} for hit in found["hits"]] == [{**hit, "score": 0} for hit in hits]
    assert (found["page"]["shown"], found["page"]["next_offset"]) == (5, 5)
    rest = answer(here, "search", query="parser", limit=5, offset=5)
    assert (rest["page"]["shown"], rest["page"]["next_offset"]) == (3, None)
    assert len({hit["ref"] for hit in found["hits"] + rest["hits"]}) == 8


def test_why_is_that_of_the_command(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    UnifiedStateManager(here).add_decision("Use SQLite", "one file")
    assert without_page(answer(here, "show", id="D1", source=True)) == printed(capsys, "show", "--source", "D1")


def test_a_turn_begins_at_the_step_that_was_asked_for(repository: Path, keep: Keep) -> None:
    keep(prompt(1, "hello"), *(answered(number, f"answer {number}") for number in range(2, 40)))
    found = answer(repository, "show", id="s30", turn=True)
    assert (found["steps"][0]["ref"], found["page"]["offset"], found["page"]["total"]) == ("S30", 29, 39)
    assert answer(repository, "show", id="S30", turn=True, offset=0)["steps"][0]["ref"] == "S1"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_every_page_of_a_big_archive_is_within_the_clients_limits(repository: Path, keep: Keep, text: str) -> None:
    calls = [
        (answered(2 * n, called(f"t{n}", "Bash", command=text[:9_000])), result(2 * n + 1, f"t{n}", text))
        for n in range(1, 3)
    ]
    keep(prompt(1, text[:50_000]), *(entry for pair in calls for entry in pair))
    manager = UnifiedStateManager(repository)
    for number in range(amount(40, 20)):
        manager.add_constraint(f"{number} {text[:900]}", text[:900], blocking=True)
    manager.add_evidence("output", text, "make")
    manager.save_state(highlights=[text[:99_000]] * 5)
    for name, arguments in (
        ("list", {}),
        ("search", {"query": "fox 8f3a9c01e7 x \u9f98", "limit": 50}),
        ("show", {"id": "T1"}),
        ("show", {"id": "S3"}),
        ("show", {"id": "E1"}),
        ("show", {"id": "C1", "source": True}),
    ):
        shown = asked(repository, name, **arguments)
        assert not shown.is_error
        assert len(text_of(shown)) < MOST_CHARACTERS
        assert count_tokens([text_of(shown)])[0] * CLAUDE_PER_O200K < MOST_TOKENS


def test_the_pages_of_a_long_output_are_all_of_it(repository: Path, keep: Keep) -> None:
    output = "".join(f"line {number}\r\n" for number in range(20_000))
    keep(prompt(1, "go"), answered(2, called("t1", "Bash", command="make")), result(3, "t1", output))
    parts, offset = [], 0
    while offset is not None:
        found = answer(repository, "show", id="S3", offset=offset)
        parts.append(found["result"])
        offset = found["page"]["next_offset"]
    assert len(parts) > 5
    assert "".join(parts) == output


def test_parts_of_a_long_output_are_those_of_recall(here: Path, keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    output = "".join(f"line {number}\n" for number in range(20_000))
    keep(prompt(1, "go"), answered(2, called("t1", "Bash", command="make")), result(3, "t1", output))
    for part in ({"lines": "200:260"}, {"grep": "line 7{3,}$"}, {"lines": "1:800", "grep": "7"}):
        options = [word for name, value in part.items() for word in (f"--{name}", value)]
        assert without_page(answer(here, "show", id="S3", **part)) == printed(capsys, "show", "S3", *options)
    assert "no pattern" in refused(here, "show", id="S3", grep="(")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("show", {"id": "D99"}, "there is no item D99"),
        ("show", {"id": "S1", "offset": -1}, "show was called wrongly: offset: input should be greater"),
        ("show", {}, "show was called wrongly: id: field required; its arguments are id, offset"),
        ("show", {"id": "S1", "words": "1-5"}, "it takes no 'words'"),
        ("show", {"id": "D1", "turn": True}, "D1 is no turn and no step"),
        ("show", {"id": "S77", "turn": True}, "there is no step S77"),
        ("search", {"query": "x", "kind": "novel"}, "'novel' is no kind"),
        ("search", {"query": "x", "session": "nobody"}, "there is no session 'nobody'"),
        ("search", {"query": "x", "limit": 51}, "less than or equal to 50"),
        ("nonsense", {}, "there is no tool 'nonsense'"),
    ],
)
def test_a_call_that_goes_wrong_is_told_in_one_line(
    repository: Path, keep: Keep, name: str, arguments: dict[str, Any], said: str
) -> None:
    keep(prompt(1, "hello"))
    assert said in refused(repository, name, **arguments)


@pytest.mark.parametrize("name", ["list", "search", "show", "history", "restore"])
def test_where_nothing_is_recorded_nothing_is_made(repository: Path, name: str, home: Path) -> None:
    arguments = {"show": {"id": "T1"}, "history": {"id": "3d"}}.get(name, {})
    assert "nothing is recorded yet" in refused(repository, name, **arguments)
    assert not (repository / ".claude").exists()
    assert list(home.rglob("archive.db")) == []


def test_a_search_for_the_team_without_a_server_says_so_beside_ones_own_hits(here: Path, keep: Keep) -> None:
    keep(prompt(1, "the parser is slow"))
    found = answer(here, "search", query="parser", team=True)
    assert [hit["ref"] for hit in found["hits"]] == ["S1"]
    assert found["team"] == []
    assert found["notes"][0].startswith("no server is configured")


def test_lines_are_explained_by_the_turn_that_wrote_them(repository: Path, keep: Keep) -> None:
    text = "limit = 10\nburst = 3\n"
    (repository / "limits.py").write_text(text, encoding="utf-8")
    path = str(repository / "limits.py")
    keep(
        prompt(1, "Add limits", cwd=str(repository)),
        answered(2, called("c1", "Write", file_path=path, content=text)),
        result(3, "c1", f"File created successfully at: {path}"),
    )
    found = answer(repository, "blame", file="limits.py", lines="2")
    assert [(group["first"], group["turn"], group["certain"]) for group in found["lines"]] == [(2, "T1", True)]
    assert [turn["prompt"] for turn in found["turns"]] == ["Add limits"]
    assert answer(repository, "blame", file=path)["lines"][0]["last"] == 2
    assert "is outside" in refused(repository, "blame", file="/etc/passwd")
    assert "no range of lines" in refused(repository, "blame", file="limits.py", lines="x")


def test_a_search_without_words_is_the_log(here: Path, keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    keep(prompt(1, "hello parser"))
    assert answer(here, "search")["hits"] == printed(capsys, "log")
    assert answer(here, "search", since="2020-01-01", session="nobody")["hits"] == []


def test_the_history_of_an_item_is_that_of_the_command(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    UnifiedStateManager(here).add_decision("Use SQLite")
    assert answer(here, "history", id="D1")["events"] == printed(capsys, "history", "D1")


def test_the_restore_leaves_out_what_a_summary_says(here: Path, keep: Keep) -> None:
    keep(prompt(1, "Never push to the main branch"), answered(2, "I will not."), prompt(3, "Write the parser"))
    manager = UnifiedStateManager(here)
    manager.add_decision("Keep notes in SQLite", "one file")
    for number in range(40):
        manager.add_decision(f"Part {number} of the parser reads its own tokens, and says where an error is")
    whole = answer(here, "restore")["text"]
    assert ("Keep notes in SQLite" in whole, "Never push to the main branch" in whole) == (True, True)
    assert answer(here, "restore", budget=4_500)["text"] == whole == manager.restore_text()
    less = manager.restore_text(summary="The user said: Never push to the main branch")
    assert len(manager.restore_text(300)) < len(whole)
    assert manager.restore_text() == whole  # a budget is that of one call
    assert less.count("Never push to the main branch") < whole.count("Never push to the main branch")
