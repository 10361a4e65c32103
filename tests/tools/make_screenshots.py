"""Write the screenshots of the documentation: the compaction page of the demonstration, light and dark.

They depend on the machine's fonts, so no test compares them; `tests/extras/viewer` tests what they show.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.chromium import OPTIONS, find_chromium

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_SIZE = {"width": 1100, "height": 720}


def main() -> None:
    """Run the demonstration, and take its page's pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "page.html"
        command = [sys.executable, "-m", "unified_state.interfaces.cli.main", "demo", "--page", str(page_file)]
        subprocess.run(command, check=True, capture_output=True)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=OPTIONS)
        for name in ("light", "dark"):
            page = browser.new_page(viewport=_SIZE, color_scheme=name)  # type: ignore[arg-type]
            page.goto(page_file.as_uri())
            page.screenshot(path=IMAGES / f"view-compaction-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
