"""Write the manual page that the wheel installs, from the parsers of the command line."""

from __future__ import annotations

from pathlib import Path

from unified_state.interfaces.cli.manual import manual

PAGE = Path(__file__).parents[2] / "share" / "man" / "man1" / "unified-state.1"

if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(f"{manual()}\n", encoding="utf-8")
