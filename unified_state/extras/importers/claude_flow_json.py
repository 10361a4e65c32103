"""claude-flow's archive where it has no SQLite: a list of JSON, with the entries of its database."""

from __future__ import annotations

from collections.abc import Iterator

from unified_state.extras.importers.claude_flow import records_of
from unified_state.hosts.transcripts.transcript_lines import objects_in
from unified_state.model.history_records import HistoryRecord
from unified_state.upkeep.exchange.foreign_files import ForeignFile

NAME, TAKES_LISTS = "claude-flow JSON", True


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Return the records of a file. Raises ForeignFileError."""
    return records_of(objects_in(file.json()))
