"""What the JSON tier of an earlier version kept in its files is there in this one, in either tier, once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.amount import amount

from .product import Project, all_bytes, lose_replays
from .striking import command_struck_at, run_struck

FILES = Path(__file__).parents[1] / "data" / "json_tier"  # as that version wrote them
EXPECTED = json.loads((FILES / "expected.json").read_text(encoding="utf-8"))
TIERS = ["sqlite", "json"]


@pytest.fixture
def put(project: Project, write_settings: Callable[[str], None]) -> Callable[[str], Path]:
    """Puts the files in the place of a project, whose tier is given; the folder that they are in."""

    def put(tier: str) -> Path:
        assert project.run("decision", "add", "x", "--rationale", "r").code == 0
        (home,) = (project.data / "repositories").iterdir()
        project.archive.unlink()
        project.state_path.unlink()
        write_settings(f'tier = "{tier}"\n')
        folder = home / "json" / home.name
        shutil.copytree(FILES, folder, ignore=shutil.ignore_patterns("expected.json"))
        return folder

    return put


def everything(project: Project) -> object:
    items = [json.loads(line) for line in project.run("export", "--items").out.splitlines()]
    return {
        "items": [[item["ref"], item["status"], item["body"]] for item in items],
        "sessions": {
            name: [[line["uuids"], line["kind"]] for line in project.export(name)] for name in EXPECTED["sessions"]
        },
    }


@pytest.mark.parametrize("tier", TIERS)
def test_all_of_it_is_there_and_the_files_are_gone(project: Project, put: Callable[[str], Path], tier: str) -> None:
    folder = put(tier)
    assert project.run("decision", "list").err == ""
    assert [name for name in ("store.json", "items.jsonl", "session-1.jsonl") if (folder / name).exists()] == []
    lose_replays()
    assert everything(project) == EXPECTED
    assert project.ask("show", "D1")["superseded_by"] == "D3"
    assert project.decide("another") == "D5"  # D4 was forgotten
    state = project.ask("load")
    assert (state["summaries"]["contextHighlights"], state["summaries"]["pendingActions"]) == (["halfway"], ["go on"])
    assert project.ask("work", "set", "--phase", "done")["title"] == "The journal"
    assert project.ask("show", "K1")["summary"].endswith("the first summary")
    assert project.hook("Stop", transcript_path="/nowhere/s.jsonl").code == 0
    assert project.export("s")[-1]["text"] == "a prompt that the transcript never had"
    assert b"swordfish" not in all_bytes([project.home, project.folder])


@pytest.mark.parametrize("tier", TIERS)
def test_a_merge_that_is_killed_at_any_point_is_done_by_the_next(
    project: Project, put: Callable[[str], Path], tier: str
) -> None:
    folder = put(tier)
    for point in range(1, 90, amount(8, 16)):
        run_struck(command_struck_at(point, project.home, "decision", "list"), project.folder)
    assert project.run("decision", "list").err == ""
    assert everything(project) == EXPECTED
    assert list(folder.parent.glob("*.merged-*")) == []


@pytest.mark.parametrize("tier", TIERS)
def test_what_the_disk_had_changed_is_left_out_and_the_files_are_kept(
    project: Project, put: Callable[[str], Path], tier: str
) -> None:
    folder = put(tier)
    path = folder / "items.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"alias":"D2"', b'"alias"D2"'))
    (folder / "desk.json").write_bytes(b"{")
    assert "2 lines could not be read; the files were set aside as" in project.run("decision", "list").err
    assert [item["id"] for item in project.ask("decision", "list", "--all")] == ["D1", "D3"]
    (aside,) = folder.parent.glob("*.damaged-*")
    assert (aside / "items.jsonl").exists()
