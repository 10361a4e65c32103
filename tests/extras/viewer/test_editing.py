"""Changes of items on the pages: the user's own, and what weakens or confirms a rule once more at the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.builders import SESSION, boundary, prompt, summary, write_transcript

from .conftest import Open
from .viewing import fetch, hook, run, viewing


def items(folder: Path, kind: str) -> dict[str, Any]:
    """The items of a kind by their ids."""
    return {one["id"]: one for one in json.loads(run(folder, kind, "list", "--all", "--json"))}


def test_an_item_is_edited_dropped_and_the_change_undone_and_a_question_answered(told: Path, opened: Open) -> None:
    with viewing(told) as viewer:
        page = opened(viewer)
        page.goto(f"{viewer.base}/D2")
        page.locator("textarea").first.fill("The clock is the database's")
        page.get_by_role("button", name="Save").click()
        page.wait_for_url("**/D3")
        assert "The clock is the database's" in page.locator(".item-text").inner_text()
        page.get_by_role("button", name="Drop").click()
        page.locator("h1", has_text="dismissed").wait_for()
        page.goto(f"{viewer.base}/state")
        page.get_by_role("button", name="Undo the newest change").click()
        page.locator("h1", has_text="active").wait_for()
        page.goto(f"{viewer.base}/Q1")
        page.get_by_label("Answer").fill("Forty")
        page.get_by_role("button", name="Close").click()
        page.locator("h1", has_text="resolved").wait_for()
    told_now = items(told, "decision")
    assert told_now["D3"]["decision"] == "The clock is the database's"
    assert told_now["D2"]["status"] == "superseded"
    assert items(told, "question")["Q1"]["resolution"] == "Forty"


def test_a_rule_is_lifted_only_after_a_yes_at_the_terminal(told: Path, opened: Open) -> None:
    with viewing(told) as viewer:
        page = opened(viewer)
        page.goto(f"{viewer.base}/C1")
        page.get_by_role("button", name="Lift").click(no_wait_after=True)
        assert "lifts C1" in viewer.asked("no")
        page.locator("h1", has_text="nothing was changed").wait_for()
        assert items(told, "constraint")["C1"].get("status") is None
        page.goto(f"{viewer.base}/C1")
        page.get_by_role("button", name="Lift").click(no_wait_after=True)
        viewer.asked("yes")
        page.locator("h1", has_text="resolved").wait_for()
    assert items(told, "constraint")["C1"]["status"] == "resolved"


def test_what_waits_is_accepted_or_rejected_and_reopened_by_a_click_and_a_yes_at_the_terminal(
    repository: Path, tmp_path: Path, opened: Open
) -> None:
    told = "Done.\n```unified-state\nconstraint: Never push to main.\nconstraint: Never touch the folder legacy/.\n```"
    path = write_transcript(tmp_path / "t" / f"{SESSION}.jsonl", prompt(0, "go"), boundary(1), summary(2, told))
    hook(repository, path, "Stop")
    waiting = {one["constraint"]: name for name, one in items(repository, "constraint").items()}
    pushes, touches = waiting["Never push to main."], waiting["Never touch the folder legacy/."]
    with viewing(repository) as viewer:
        page = opened(viewer)

        def click(verb: str, place: str, answer: str, shown: str) -> None:
            page.goto(f"{viewer.base}/{place}")
            page.get_by_role("button", name=verb).first.click(no_wait_after=True)
            viewer.asked(answer)
            page.locator("h1", has_text=shown).wait_for()

        click("Accept", pushes, "no", "nothing was changed")
        click("Accept", pushes, "yes", "active")
        click("Reject", "state", "yes", "dismissed")
        assert {name: one.get("status") for name, one in items(repository, "constraint").items()} == {
            pushes: None,
            touches: "dismissed",
        }
        click("Reopen", touches, "yes", "proposed")
    assert items(repository, "constraint")[touches]["status"] == "proposed"


STOLEN = b"ref=C1"  # a form as one sends it who knows the secret


def test_an_agent_can_start_only_a_viewer_that_changes_nothing(told: Path) -> None:
    with viewing(told, agent=True) as viewer:
        for path in ("/C1", "/D1", "/state"):
            assert "<form method" not in viewer.get(path)[2]
        for verb in ("lift", "drop", "edit", "undo"):
            assert fetch(f"{viewer.base}/change/{verb}", {}, STOLEN)[0] == 404
    assert items(told, "constraint")["C1"].get("status") is None


def test_an_agent_that_reads_the_address_lifts_no_rule(told: Path) -> None:
    from threading import Thread

    with viewing(told) as viewer:
        answers: list[tuple[int, str]] = []

        def steal() -> None:
            status, _, body = fetch(f"{viewer.base}/change/lift", {}, STOLEN)
            answers.append((status, body))

        thief = Thread(target=steal)
        thief.start()
        assert "lifts C1" in viewer.asked("")  # the question is the user's to answer
        thief.join()
        assert answers[0][0] == 400
        assert "nothing was changed" in answers[0][1]
    assert items(told, "constraint")["C1"].get("status") is None
