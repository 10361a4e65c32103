"""One page as one file: complete without scripts and network, safe, and small."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser

from tests.builders import SESSION, answer, call, prompt, result, write_transcript

from .viewing import run


def exported(folder: Path, *arguments: str) -> str:
    """The page that `view --export` writes."""
    run(folder, "view", "--export", "page.html", *arguments)
    return (folder / "page.html").read_text(encoding="utf-8")


def test_a_compaction_a_session_and_the_state_are_one_file_each(told: Path) -> None:
    compaction, session, state = exported(told, "K1"), exported(told), exported(told, "state")
    assert "The clock is Redis TIME" in compaction
    assert "told again" in compaction
    assert "FAILED test_burst" in session
    assert "✂" in session
    assert "Which burst?" in state
    assert exported(told, SESSION) == session
    assert exported(told, SESSION[:8]) == session
    for page in (compaction, session, state):
        assert not re.search(r"<script|<link|<[^>]*\ssrc=|<form|url\(|<a [^>]*href=\"(?!#)", page)
        assert "default-src 'none'" in page


def test_an_export_is_read_without_scripts_and_asks_no_network(told: Path, browser: Browser) -> None:
    exported(told, "K1")
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"file://{told}/page.html")
        assert "What was known" in page.locator(".flow").inner_text()
        assert "The clock is Redis TIME" in page.locator("table.o-back").inner_text()
        assert asked == [f"file://{told}/page.html"]
    finally:
        context.close()


def test_a_session_of_a_thousand_turns_is_at_most_two_megabytes_with_older_turns_folded(
    repository: Path, tmp_path: Path
) -> None:
    entries = []
    for number in range(0, 4_000, 4):
        entries += [
            prompt(number, f"Step {number} of the long work, " + "and why " * 20),
            answer(number + 1, call(f"c{number}", "Bash", command=f"make part-{number}")),
            result(number + 2, f"c{number}", f"line {number}\n" * 400),
            answer(number + 3, "Done. " * 100),
        ]
    run(repository, "import", str(write_transcript(tmp_path / "t" / f"{SESSION}.jsonl", *entries)))
    page = exported(repository)
    assert len(page.encode()) <= 2_000_000
    assert page.count('<details class="turn"') == 970
    assert page.count('<article class="turn"') == 30
    assert "Step 0 of the long work" in page
    assert "Step 3996 of the long work" in page


def test_an_export_has_no_secret(repository: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = write_transcript(tmp_path / "t" / f"{SESSION}.jsonl", prompt(1, f"my token is {secret}"), answer(2, "ok"))
    run(repository, "import", str(path))
    assert secret not in exported(repository)
