"""Draw docs/images/compaction.svg from a run of `unified-state demo`: what a session knows after a compaction, without
and with unified-state.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "compaction.svg"
_WIDTH, _LINE, _TOP, _MARGIN = 960, 26, 96, 24
_COLUMNS = (_MARGIN, 330, 520)  # fact, summary alone, with unified-state
_STYLE = (
    "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9}"
    ".title{font-size:16px;font-weight:bold;fill:#f0f6fc}.lost{fill:#f85149}.known{fill:#3fb950}.dim{fill:#8b949e}"
)


def main() -> None:
    """Write the picture."""
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(demonstration()["facts"]), encoding="utf-8", newline="\n")


def demonstration() -> Any:
    """Run the demonstration, and return what it prints as JSON."""
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "unified_state.interfaces.cli.main", "demo", "--json"]
        done = subprocess.run(command, env={**os.environ, "HOME": home}, capture_output=True, check=True)
    return json.loads(done.stdout)


def drawn(facts: list[dict[str, Any]]) -> str:
    """Return the picture of the facts: whether the summary alone has each, and whether the restored session has it."""
    height = _TOP + (len(facts) + 2) * _LINE
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" aria-labelledby="t">'
    return "\n".join([begin, *_lines(facts, height), "</svg>", ""])


def _lines(facts: list[dict[str, Any]], height: int) -> Iterator[str]:
    known = sum(fact["inSummary"] for fact in facts)
    restored = sum(fact["inSummary"] or fact["restored"] for fact in facts)
    told = f"After a compaction: {known} of {len(facts)} facts without, {restored} with unified-state"
    yield f'<title id="t">{told}</title>'
    yield f"<style>{_STYLE}</style>"
    yield f'<rect width="{_WIDTH}" height="{height}" rx="10" fill="#0d1117"/>'
    for column, text in zip(_COLUMNS, ("After a compaction", "the summary alone", "with unified-state"), strict=True):
        yield _text(column, 40, text, "title")
    yield f'<path d="M{_MARGIN} 58H{_WIDTH - _MARGIN}" stroke="#30363d"/>'
    for number, fact in enumerate(facts):
        at = _TOP - 10 + number * _LINE
        yield _text(_COLUMNS[0], at, fact["name"], "dim")
        yield _told(_COLUMNS[1], at, "known", is_known=fact["inSummary"])
        yield _told(_COLUMNS[2], at, fact["text"], is_known=fact["inSummary"] or fact["restored"])
    at = _TOP + len(facts) * _LINE + 10
    yield _text(_COLUMNS[0], at, "facts that the next step needs", "title")
    yield _text(_COLUMNS[1], at, f"{known} of {len(facts)}", "title")
    yield _text(_COLUMNS[2], at, f"{restored} of {len(facts)}", "title")


def _told(column: int, at: int, text: str, *, is_known: bool) -> str:
    return _text(column, at, f"✓ {text}" if is_known else "✗ lost", "known" if is_known else "lost")


def _text(x: int, y: int, text: str, name: str) -> str:
    return f'<text x="{x}" y="{y}" class="{name}">{escape(text)}</text>'


if __name__ == "__main__":
    main()
