"""MemPalace's exports: a folder a wing, and in it a file a room, `room.jsonl`.

A line of JSON is a drawer: `id`, `document` (the text), `metadata`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unified_state.extras.importers.foreign_records import Conversation, moment, text_in
from unified_state.lib.foreign_values import clean_text
from unified_state.model.history_records import HistoryRecord
from unified_state.model.step import NOTICE
from unified_state.upkeep.exchange.foreign_files import ForeignFile

NAME = "MemPalace"
_PROGRAM = "mempalace"
_METADATA = re.compile(r'"metadata"\s*:\s*\{')


def told(head: str, _path: str) -> bool:
    """Return whether the first line is a drawer."""
    line = head.partition("\n")[0]
    is_object = line.startswith("{") and '"document"' in line[:100] + line[-100:]
    return is_object and _METADATA.search(line) is not None and '"id"' in line


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield a step a drawer, in a session a room. A record that is none is skipped and counted."""
    known: set[str] = set()
    for number, drawer in file.objects():
        name, text, metadata = clean_text(drawer.get("id")), clean_text(drawer.get("document")), drawer.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        if not name or not text.strip():
            file.skip(f"line {number}")
            continue
        wing, room = text_in(metadata, "wing") or file.folder, text_in(metadata, "room") or file.name.rpartition(".")[0]
        at = moment(metadata.get("filed_at")) or file.modified()
        talk = Conversation(_PROGRAM, f"{wing}/{room}", at)
        if talk.id not in known:
            known.add(talk.id)
            yield talk.session()
        yield talk.step(NOTICE, text, at, name=name)
