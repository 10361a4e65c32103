"""Searches by meaning, with the real model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.minilm_folder import minilm_folder
from tests.builders import NOW, answer, call, prompt
from unified_state.archive.archive import Archive
from unified_state.archive.full_text import Filters
from unified_state.archive.sessions import touch_session
from unified_state.archive.text_columns import forget_step
from unified_state.archive.write_steps import StepWriter
from unified_state.extras.vectors.embed_steps import embed
from unified_state.extras.vectors.query_meaning import open_reader
from unified_state.lib.text import pack
from unified_state.model.step import PROMPT, Hit, Step
from unified_state.project.place import locate
from unified_state.project.workspace.workspace import Workspace
from unified_state.search.find import SearchRequest, find, find_everywhere
from unified_state.search.search_archive import search
from unified_state.setting_table import MINILM
from unified_state.settings import Settings

Keep = Callable[..., None]
OTHER = "0ther000-0000-4000-8000-000000000000"
TOLD = ("the login page is broken", "tomatoes grow well in the sun", "the train leaves at noon", "rename the logo file")
ASKED = "users cannot sign in"  # none of its words was said
DAY = 86_400_000


@pytest.fixture(autouse=True)
def has_minilm(workspace: Workspace) -> None:
    workspace.settings.minilm_folder = minilm_folder()


@pytest.fixture
def told(archive: Archive, keep: Keep, workspace: Workspace) -> Archive:
    """S1 to S4, each a turn of its own, with vectors."""
    keep(*(prompt(number, text) for number, text in enumerate(TOLD, 1)))
    make_vectors(workspace)
    workspace.settings.search_vectors = MINILM
    return archive


def make_vectors(workspace: Workspace) -> None:
    embed(workspace, None, lambda _total: lambda _count: None)


def asked(archive: Archive, query: str, **how: object) -> list[Hit]:
    return search(archive, query, 10, reader=open_reader(minilm_folder()), **how)  # type: ignore[arg-type]  # as it is given


def test_a_step_is_found_that_has_no_word_of_the_query(told: Archive) -> None:
    assert search(told, ASKED, 10) == []
    assert asked(told, ASKED)[0].ref == "S1"


def test_filters_hold(told: Archive, keep: Keep, workspace: Workspace) -> None:
    keep(prompt(9, "nobody can log in", session=OTHER, at=NOW + DAY), session=OTHER)
    keep(answer(10, call("t1", "Bash", command="login --help"), session=OTHER, at=NOW + DAY), session=OTHER)
    make_vectors(workspace)
    assert {hit.session_id for hit in asked(told, ASKED, session_id=OTHER)} == {OTHER}
    assert {hit.kind for hit in asked(told, ASKED, filters=Filters(kind="tool_call"))} == {"tool_call"}
    assert {hit.ref for hit in asked(told, ASKED, filters=Filters(since=NOW + DAY))} == {"S5", "S6"}
    assert [hit.ref for hit in asked(told, ASKED, filters=Filters(tool="bash"))] == ["S6"]
    assert asked(told, ASKED, filters=Filters(file="absent.py")) == []


def test_of_a_session_the_nearest_are_found_however_many_of_others_are_nearer(
    told: Archive, keep: Keep, workspace: Workspace
) -> None:
    keep(*(prompt(number, f"users cannot sign in, the {number}. time") for number in range(10, 50)))
    keep(prompt(50, "the door is shut for everybody", session=OTHER), session=OTHER)
    make_vectors(workspace)
    (hit,) = asked(told, ASKED, session_id=OTHER, candidates=10)
    assert hit.session_id == OTHER


def test_a_forgotten_step_is_not_found(told: Archive) -> None:
    forget_step(told, 1)
    assert "S1" not in {hit.ref for hit in asked(told, ASKED)}


@pytest.mark.parametrize("query", ["", "?", "\ud83d", "x" * 100_000, "NEAR(", '"', "\x00"], ids=ascii)
def test_any_text_is_a_query(told: Archive, query: str) -> None:
    assert all(hit.score < 10 for hit in asked(told, query))


def test_the_setting_turns_it_on(told: Archive, workspace: Workspace, reports: list[str]) -> None:
    assert find(workspace, SearchRequest(ASKED), NOW)[0].ref == "S1"
    assert find_everywhere(workspace, SearchRequest(ASKED), NOW)[0].hit.ref == "S1"
    workspace.settings.search_vectors = "off"
    assert find(workspace, SearchRequest(ASKED), NOW) == []
    assert reports == []


def test_where_no_step_has_a_vector_it_is_said(
    archive: Archive, keep: Keep, workspace: Workspace, reports: list[str]
) -> None:
    keep(prompt(1, "fix the parser"))
    workspace.settings.search_vectors = MINILM
    assert [hit.ref for hit in find(workspace, SearchRequest("parser"), NOW)] == ["S1"]
    assert reports == ["searched by words alone: no step has a vector yet; `unified-state embed` makes them"]


def test_the_nearest_in_meaning_of_all_repositories_is_the_best(
    told: Archive, workspace: Workspace, tmp_path: Path, data_dir: Path, settings: Settings
) -> None:
    (tmp_path / "other").mkdir()
    place = locate(str(tmp_path / "other"), str(data_dir), create=True)
    with Archive(place.archive_path) as archive, archive.transaction(durable=False):
        writer = StepWriter(archive, touch_session(archive, OTHER, NOW), None)
        text = "users cannot log in to their account any more"
        writer.add(Step("aaaaaaaa-0000-4000-8000-000000000000", 0, PROMPT, NOW, text, starts_turn=True), pack(text))
    make_vectors(Workspace(place, settings, report=lambda _line: None))
    best, second = find_everywhere(workspace, SearchRequest("people are unable to sign in"), NOW)[:2]
    assert (best.archive, second.archive) == (place.archive_path, told.path)
    assert second.hit.ref == "S1"
