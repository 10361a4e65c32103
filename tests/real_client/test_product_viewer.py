"""The viewer beside the client: a session that runs shows its turns in the browser by itself."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import sync_playwright

from tests.chromium import OPTIONS, find_chromium
from tests.extras.viewer.viewing import viewing

from .conversation import Conversation
from .installed import assert_healthy, installed_with_items
from .scenario import Scenario


def test_turns_and_compactions_of_a_running_session_appear_in_the_browser(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = find_chromium()
    product = installed_with_items(scenario)
    monkeypatch.setenv("HOME", str(scenario.home))
    scenario.api.script("compact", "<summary>1. Decisions: Use SQLite for the archive</summary>")
    scenario.script("the first answer", "the second answer", "the third answer")
    with Conversation(scenario) as client:
        client.ask("the first prompt")
        with viewing(scenario.project) as viewer, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
            page = browser.new_page()
            page.goto(viewer.address)
            until = time.monotonic() + 30
            while not page.locator(".sessions .title").count():  # Stop archives after it let the client go on
                assert time.monotonic() < until
                page.reload()
            page.locator(".sessions .title").first.click()
            page.locator("article.turn", has_text="the first prompt").wait_for()
            client.ask("the second prompt")  # the client may write an answer after Stop; the next hook archives it
            page.locator("article.turn", has_text="the first answer").wait_for()
            client.ask("/compact")
            client.ask("the third prompt")
            page.locator("article.turn", has_text="the second answer").wait_for()
            page.locator(".compaction .face").first.click()
            rows = page.locator(".fates tbody tr")
            rows.first.wait_for()
            told = {row.split()[0]: row for row in rows.all_inner_texts()}
            assert "✓ kept" in told["D1"] or "≈ kept" in told["D1"]
            assert "missing" in told["C1"]
            assert "✓ arrived" in told["C1"]
            browser.close()
    assert_healthy(product)
