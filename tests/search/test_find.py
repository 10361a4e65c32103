from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import NOW, SESSION, answer, call, item, prompt, result, write_transcript
from unified_state.archive.archive import Archive
from unified_state.archive.cut_outputs import Output, archive_output, note_shortened, read_savings
from unified_state.archive.sessions import touch_session
from unified_state.capture.capture_transcript import Capture
from unified_state.errors import NotFoundError, UsageError
from unified_state.ledger.item_table import insert_item
from unified_state.model.hook_event import Moment
from unified_state.project.place import locate
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import SearchRequest, find, find_everywhere, recall_and_note
from unified_state.search.search_archive import access_weights
from unified_state.secrets.masker import Masker
from unified_state.settings import Settings

Keep = Callable[..., None]
Elsewhere = Callable[..., Workspace]
DAY = 86_400_000
OTHER = "0ther000-0000-4000-8000-000000000000"


@pytest.fixture
def worked(archive: Archive, keep: Keep) -> Archive:
    """S1 a prompt of yesterday, S2 and S3 a call of Bash and its result, S4 a text, all with the parser; D1."""
    keep(
        prompt(1, "fix the parser in src/app.py", at=NOW - DAY),
        answer(2, call("t1", "Bash", command="test the parser")),
        result(3, "t1", "the parser fails"),
        answer(4, "the parser is fixed"),
    )
    insert_item(archive, item(1, decision="one parser"))
    return archive


@pytest.fixture
def elsewhere(tmp_path: Path, data_dir: Path, settings: Settings, masker: Masker) -> Elsewhere:
    """Makes another repository in which a prompt is archived."""

    def make(name: str, text: str, session: str = OTHER) -> Workspace:
        (tmp_path / name).mkdir()
        place = locate(str(tmp_path / name), str(data_dir), create=True)
        path = write_transcript(tmp_path / f"{name}.jsonl", prompt(1, text, session=session))
        with Archive(place.archive_path) as archive:
            Capture(archive, masker, Moment(NOW)).transcript(str(path), session, to_end=True)
            touch_session(archive, session, NOW, worktree=place.repository.worktree)
        return Workspace(place, settings, report=lambda _: None)

    return make


def found(workspace: Workspace, **wanted: Any) -> list[str]:
    return [hit.ref for hit in find(workspace, SearchRequest(**{"query": "parser", **wanted}), NOW)]


@pytest.mark.parametrize(
    ("wanted", "refs"),
    [
        ({}, ["D1", "S1", "S2", "S3", "S4"]),
        ({"session_id": SESSION}, ["S1", "S2", "S3", "S4"]),
        ({"since": "2026-09-21"}, ["D1", "S2", "S3", "S4"]),
        ({"since": "1h"}, ["D1", "S2", "S3", "S4"]),
        ({"since": "yesterday"}, ["D1", "S1", "S2", "S3", "S4"]),
        ({"tool": "Bash"}, ["S2", "S3"]),
        ({"tool": "bash"}, ["S2", "S3"]),
        ({"file": "app.py"}, ["S1"]),
        ({"kind": "tool_result"}, ["S3"]),
        ({"kind": "decision"}, ["D1"]),
        ({"kind": "question"}, []),
        ({"tool": "Bash", "kind": "tool_call", "since": "1h"}, ["S2"]),
        ({"limit": 1}, ["D1"]),
    ],
)
def test_each_filter_does_what_it_says(
    workspace: Workspace, worked: Archive, wanted: dict[str, Any], refs: list[str]
) -> None:
    assert sorted(found(workspace, **wanted)) == refs


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"since": "soon"}, "--since 'soon' is no time; say "),
        ({"since": ""}, "--since '' is no time"),
        ({"since": "x\n" * 1000}, r"--since 'x\\nx\\n"),
        ({"kind": "letter"}, "--kind 'letter' is no kind of step or item; kinds are prompt, .*, attempt$"),
        ({"kind": ""}, "--kind '' is no kind"),
        ({"file": ""}, "--file '' is no name of a file"),
        ({"file": "../"}, "--file '../' is no name of a file"),
    ],
)
def test_a_filter_that_makes_no_sense_is_told_in_one_line(
    workspace: Workspace, worked: Archive, wanted: dict[str, Any], told: str
) -> None:
    for search in (find, find_everywhere):
        with pytest.raises(UsageError, match=told) as caught:
            search(workspace, SearchRequest(query="parser", **wanted), NOW)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("tool", ["Bsh", "", "x\ny", "%"])
def test_a_tool_that_was_never_called_is_told_with_those_that_were(
    workspace: Workspace, worked: Archive, tool: str
) -> None:
    with pytest.raises(NotFoundError, match=r"no call of such a tool is archived; tools are Bash$") as caught:
        find(workspace, SearchRequest(query="parser", tool=tool), NOW)
    assert "\n" not in str(caught.value)


def test_a_session_that_is_not_known_is_told(workspace: Workspace, worked: Archive) -> None:
    with pytest.raises(NotFoundError, match="there is no session 'nobody'"):
        found(workspace, session_id="nobody")


def test_the_first_three_hits_are_noted(workspace: Workspace, archive: Archive, keep: Keep) -> None:
    keep(*(prompt(number, "the parser") for number in range(1, 6)))
    hits = [int(ref[1:]) for ref in found(workspace)]
    assert access_weights(archive, range(1, 6), NOW).keys() == set(hits[:3])


@pytest.mark.parametrize(("ref", "noted"), [("S3", {3}), ("T1", {1, 2, 3, 4}), ("D1", set())])
def test_what_is_recalled_is_noted(workspace: Workspace, worked: Archive, ref: str, noted: set[int]) -> None:
    assert recall_and_note(workspace, ref, NOW)["ref"] == ref
    assert access_weights(worked, [1, 2, 3, 4], NOW).keys() == noted


def test_of_an_output_that_is_recalled_in_pages_only_what_a_page_shows_counts_as_given_back(
    workspace: Workspace, archive: Archive
) -> None:
    output = Output(tool_use_id="t1", agent=None, at=NOW, text="line of it\n" * 900, digest=7)
    session = touch_session(archive, SESSION, NOW)
    number = archive_output(archive, session, SESSION, output)
    note_shortened(archive, session, number, output, level=2, shown=100)
    shown = recall_and_note(workspace, f"S{number}", NOW, page=lambda all_of_it: {**all_of_it, "result": "line of it"})
    assert shown["result"] == "line of it"
    assert (read_savings(archive).recalls, read_savings(archive).recalled_tokens) == (1, 3)


def test_while_another_writes_what_is_found_is_given_and_only_not_noted(
    workspace: Workspace, worked: Archive, reports: list[str]
) -> None:
    other = sqlite3.connect(worked.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert len(found(workspace)) == 5
    assert recall_and_note(workspace, "S1", NOW)["text"] == "fix the parser in src/app.py"
    other.execute("ROLLBACK")
    other.close()
    assert access_weights(worked, [1, 2, 3, 4], NOW) == {}
    assert len(reports) == 2
    assert all("could not be noted: the archive" in report for report in reports)


def test_every_repository_is_searched_where_that_is_asked_for(
    workspace: Workspace, worked: Archive, elsewhere: Elsewhere
) -> None:
    other = elsewhere("other", "another parser")
    everywhere = find_everywhere(workspace, SearchRequest(query="parser"), NOW)
    assert {(one.archive, one.hit.ref) for one in everywhere} == {
        *((worked.path, ref) for ref in ("D1", "S1", "S2", "S3", "S4")),
        (other.place.archive_path, "S1"),
    }
    assert {one.worktree for one in everywhere if one.archive != worked.path} == {other.place.repository.worktree}
    assert found(workspace) == [one.hit.ref for one in everywhere if one.archive == worked.path]


def test_hits_of_all_repositories_are_within_one_limit_the_best_first(
    workspace: Workspace, archive: Archive, keep: Keep, elsewhere: Elsewhere
) -> None:
    keep(prompt(1, "the lock"))
    best = elsewhere("other", "the lock of the parser")
    elsewhere("third", "a parser")
    everywhere = find_everywhere(workspace, SearchRequest(query="parser lock", limit=2), NOW)
    assert everywhere[0].archive == best.place.archive_path
    assert len(everywhere) == 2


def test_a_repository_with_a_part_of_the_query_ranks_behind_one_with_all(
    workspace: Workspace, worked: Archive, elsewhere: Elsewhere
) -> None:
    for number in range(3):
        elsewhere(f"part{number}", "the lock is never freed")
    best = elsewhere("best", "the zanzibar lock of the scheduler is never freed")
    everywhere = find_everywhere(workspace, SearchRequest(query="zanzibar lock of the scheduler", limit=3), NOW)
    assert everywhere[0].archive == best.place.archive_path
    assert [one.hit.score for one in everywhere if one.archive == best.place.archive_path] == [
        hit.score for hit in find(best, SearchRequest(query="zanzibar lock of the scheduler"), NOW)
    ]


def test_a_session_that_no_repository_has_is_told(workspace: Workspace, worked: Archive, elsewhere: Elsewhere) -> None:
    elsewhere("other", "another parser")
    with pytest.raises(NotFoundError, match="there is no session 'nobody'"):
        find_everywhere(workspace, SearchRequest(query="parser", session_id="nobody"), NOW)


def test_an_archive_that_cannot_be_read_is_left_out_and_told_and_left_as_it_is(
    workspace: Workspace, worked: Archive, elsewhere: Elsewhere, reports: list[str]
) -> None:
    broken = Path(elsewhere("other", "another parser").place.archive_path)
    broken.write_bytes(b"no archive at all")
    assert len(find_everywhere(workspace, SearchRequest(query="parser"), NOW)) == 5
    assert reports == [f"skipped: the archive {broken} is damaged: file is not a database"]
    assert broken.read_bytes() == b"no archive at all"
