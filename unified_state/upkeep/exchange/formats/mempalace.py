"""MemPalace's exports: a folder a wing, and in it a file a room, as `room.jsonl` or as `room.md`.

A line of JSON is a drawer: `id`, `document` (the text), `metadata`. In Markdown a drawer is a heading with its id, the
text as a quotation, and a table. Both give the same steps, in a session a room.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from unified_state.lib.foreign_values import clean_text, original
from unified_state.model.history_records import HistoryRecord
from unified_state.model.step import NOTICE
from unified_state.upkeep.exchange.foreign_records import Conversation
from unified_state.upkeep.exchange.foreign_text import ForeignFile, moment, sections, text_in

NAME = "MemPalace"
_PROGRAM = "mempalace"
_TITLE = re.compile(r"# (.+?) / (.+)")
# The line after the heading tells a drawer from a heading in a quotation.
_DRAWER = re.compile(r"^## (\S+)\n\n(?=> )", re.MULTILINE)
_ROW = re.compile(r"^\| (Source|Filed|Added by) \| (.*) \|$", re.MULTILINE)
_TABLE = "\n\n| Field | Value |\n"
_ROWS = {"Source": "source_file", "Filed": "filed_at", "Added by": "added_by"}
_SHOWN = frozenset({"filed_at", "wing", "room"})


def told(head: str, path: str) -> bool:
    """Return whether the first line is a drawer, or the page begins as that of a room."""
    line, _, rest = head.partition("\n")
    if path.endswith(".md"):
        return bool(_TITLE.fullmatch(line.rstrip()) and _DRAWER.match(rest.lstrip("\n")) and _TABLE in rest)
    is_object = line.startswith("{") and '"document"' in line[:100] + line[-100:]
    return is_object and re.search(r'"metadata"\s*:\s*\{', line) is not None and '"id"' in line


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield a step a drawer. A record that is none is skipped and counted."""
    known: set[str] = set()
    for place, name, text, metadata in _of_page(file) if file.path.endswith(".md") else _of_lines(file):
        if not name or not text.strip():
            file.skip(place)
            continue
        wing, room = text_in(metadata, "wing") or file.folder, text_in(metadata, "room") or _stem(file)
        at = moment(metadata.get("filed_at")) or file.modified()
        talk = Conversation(_PROGRAM, f"{wing}/{room}", at)
        if talk.id not in known:
            known.add(talk.id)
            yield talk.session()
        yield talk.step(NOTICE, text, at, name=name, unknown=original(metadata, _SHOWN))


def _of_lines(file: ForeignFile) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    for number, drawer in file.objects():
        metadata = drawer.get("metadata")
        name, text = clean_text(drawer.get("id")), clean_text(drawer.get("document"))
        yield f"line {number}", name, text, metadata if isinstance(metadata, dict) else {}


def _of_page(file: ForeignFile) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    text = file.text()
    title = _TITLE.match(text.lstrip())
    place = {"wing": title[1].strip(), "room": title[2].strip()} if title else {}
    for name, part in sections(text, _DRAWER):
        if not name:
            continue
        said, _, table = part.partition("\n\n")[2].rpartition(_TABLE)
        lines = [line.removeprefix(">").removeprefix(" ") for line in said.split("\n")]
        rows = {_ROWS[row]: value for row, value in _ROW.findall(table) if value != "unknown"}
        yield f"drawer {name}", name, "\n".join(lines), {**place, **rows}


def _stem(file: ForeignFile) -> str:
    return file.name.rpartition(".")[0]
