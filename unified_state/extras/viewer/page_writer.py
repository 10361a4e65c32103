"""Pages: templates filled with recorded texts. Every text is escaped, and made visible first."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from unified_state.extras.viewer.rich_text import difference, markdown
from unified_state.lib.fence import visible
from unified_state.lib.package import package_path
from unified_state.lib.read_files import LARGE_FILE, read_regular
from unified_state.lib.text import cut, one_line
from unified_state.lib.times import to_milliseconds
from unified_state.model.hook_event import BRIEF, WORKING_SET
from unified_state.model.known import ELSEWHERE, RELEVANT

MOST_CHARACTERS = 3_000  # of a text on a page with others
_THIN = "\u202f"  # between groups of three digits
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_MARK = "**"  # around each word that a search found
_REF = re.compile(r"\b([STKDCQEA][1-9][0-9]{0,9})\b")


# How the pages call the texts that hooks add.
PART_NAMES = {
    BRIEF: "the state",
    WORKING_SET: "files, commands and turns",
    RELEVANT: "turns about the prompt",
    ELSEWHERE: "news of other sessions",
}


def static_file(name: str) -> bytes:
    """Return the content of a style sheet or script."""
    return read_regular(package_path("extras", "viewer", "static", name), LARGE_FILE)


def write_page(name: str, **values: Any) -> str:
    """Return a page: a template filled with values."""
    return _environment().get_template(name).render(values)


def page_values(tab: str, now: int, **others: Any) -> dict[str, Any]:
    """Return the values that every page needs. `tab` is the part of the navigation that it belongs to."""
    return {"tab": tab, "now": now, "is_export": False, "live": None, "limit": MOST_CHARACTERS, **others}


def local_time(milliseconds: int | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return a time in the user's time zone, or "" if it is unknown or beyond the calendar."""
    if milliseconds is None or milliseconds <= 0:
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime(form)
    except (ValueError, OverflowError, OSError):
        return ""


def text_time(text: str | None) -> str:
    """Return a recorded time such as `2026-03-14T09:26:53.589Z` in the user's time zone."""
    return local_time(to_milliseconds(text) if text else None)


def number(value: int | None) -> str:
    """Return a number with its digits in groups of three."""
    return "" if value is None else f"{value:,}".replace(",", _THIN)


def shown(text: str | None, limit: int = 0) -> str:
    """Return a recorded text without the colours of a terminal, its hidden characters visible, cut at a limit."""
    if not text:
        return ""
    plain = _COLOURS.sub("", text[: limit * 4] if limit else text)
    return visible(cut(plain, limit) if limit else plain)


def line(text: str | None, limit: int = 160) -> str:
    """Return the begin of a recorded text in one line."""
    return shown(one_line((text or "")[: limit * 8]), limit)


def marked(snippet: str) -> Markup:
    """Return a hit's snippet with its found words marked."""
    parts = shown(snippet).split(_MARK)
    if len(parts) % 2 == 0:  # an odd number of marks: the text has some of its own
        return escape(_MARK.join(parts))
    pieces = (Markup("<mark>{}</mark>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts))
    return Markup("").join(pieces)


def linked(text: str, base: str) -> Markup:
    """Return a text whose refs, such as `D7` and `S1234`, are links."""
    parts = _REF.split(shown(text))
    link = Markup('<a href="{}/{}">{}</a>')
    return Markup("").join(link.format(base, part, part) if at % 2 else escape(part) for at, part in enumerate(parts))


def _environment() -> Environment:
    if not _made:
        made = Environment(
            loader=FileSystemLoader(package_path("extras", "viewer", "templates")),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters |= {
            "difference": difference,
            "line": line,
            "linked": linked,
            "local": local_time,
            "markdown": markdown,
            "marked": marked,
            "number": number,
            "part": lambda name: PART_NAMES.get(name, name),
            "shown": shown,
            "when": text_time,
        }
        _made.append(made)
    return _made[0]


_made: list[Environment] = []
