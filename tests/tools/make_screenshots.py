"""Write the screenshots of the documentation: the compaction page of the demonstration, light and dark.

They depend on the machine's fonts, so no test compares them; `tests/extras/viewer` tests what they show.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.chromium import OPTIONS, find_chromium
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import restores_of
from unified_state.extras.viewer.export_page import export_page
from unified_state.extras.viewer.open_projects import open_projects
from unified_state.interfaces.cli.commands.demo import _SESSION, _Demo
from unified_state.lib.fence import fenced
from unified_state.lib.times import current_time, to_text

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_SIZE = {"width": 1100, "height": 720}


def demonstrated(folder: str) -> str:
    """The page of the demonstration's compaction, after the client wrote the restored texts into the transcript."""
    demo = _Demo(folder)
    demo.run()
    with Archive(demo._workspace.place.archive_path) as archive:
        texts = [restore.text for restore in restores_of(archive, 1)]
        nonces = archive.column("SELECT nonce FROM restore")
    lines = [fenced(text, nonce, "") for text, nonce in zip(texts, nonces, strict=True)]
    entry: dict[str, object] = {
        "type": "attachment",
        "uuid": "arrived",
        "sessionId": _SESSION,
        "timestamp": to_text(current_time()),
    }
    entry["attachment"] = {"type": "hook_additional_context", "content": lines}
    with Path(demo._transcript).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    demo._hook("SessionEnd", reason="other")  # which, unlike Stop, is waited for
    project = open_projects(demo._workspace, "", every=False)[""]
    return project.read(lambda archive: export_page(archive, project, "K1", current_time()))


def main() -> None:
    """Run the demonstration, and take its page's pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "page.html"
        page_file.write_text(demonstrated(folder), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=OPTIONS)
        for name in ("light", "dark"):
            page = browser.new_page(viewport=_SIZE, color_scheme=name)  # type: ignore[arg-type]
            page.goto(page_file.as_uri())
            page.screenshot(path=IMAGES / f"view-compaction-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
