"""What a session worked with: files and the identifiers in them, commands and how they ended, references, errors.

Every score is what the thing weighs now: sightings lose half their weight with every half-life (`lib.text.decay`).
"""

from __future__ import annotations

from unified_state.lib.record import Record

Scored = tuple[str, float]


class WorkingFile(Record):
    """A file as the repository names it, with the identifiers that were seen in it, the weightiest first.

    `hot` is the part of its score that comes from edits.
    """

    path: str
    score: float
    hot: float
    words: tuple[Scored, ...] = ()


class RanCommand(Record):
    """A command of the shell and how it ended last: whether it failed, its last line (None where nothing is known of
    its end), the lines that tell of failures.
    """

    command: str
    score: float
    failed: bool = False
    last: str | None = None
    failing: tuple[str, ...] = ()


class WorkingSet(Record):
    """The top of a session's working set, each list in the order of its scores."""

    files: tuple[WorkingFile, ...] = ()
    words: tuple[Scored, ...] = ()  # identifiers that were seen outside of files
    commands: tuple[RanCommand, ...] = ()
    programs: tuple[Scored, ...] = ()  # by their first two words: `go test`, `git log`
    references: tuple[Scored, ...] = ()
    errors: tuple[Scored, ...] = ()
