"""The steps of an archive as a server is told of them: in order, once for each session that holds them."""

from __future__ import annotations

from unified_state.memory.history.archive_rows import read_steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive
    from unified_state.model.history_records import StoredStep

_MOST_BYTES = 1 << 20  # of packed texts in one batch
# An output that was archived before its entry stands behind the step before that.
_PLACE = "coalesce((SELECT place + 0.5 FROM shortened WHERE shortened.step = step.id), step.id)"
_OF_COPIES = (
    f"SELECT step.id AS number, session.session_id AS holder, {_PLACE} AS place FROM session "
    "JOIN step_copy ON step_copy.session = session.id JOIN step ON step.id = step_copy.step WHERE kind NOT NULL AND "
)
_OWN = f"SELECT step.id AS number, NULL AS holder, {_PLACE} AS place FROM step WHERE kind NOT NULL AND "
_IN_ORDER = " ORDER BY place, number, holder"


def steps_between(archive: Archive, after: int, last: int) -> list[StoredStep]:
    """The steps of a range of numbers, for the sessions that had them first and for those that hold copies."""
    query = f"{_OWN} number > ?1 AND number <= ?2 UNION ALL {_OF_COPIES} step_copy.step > ?1 AND step_copy.step <= ?2"
    return _read(archive, archive.rows(query + _IN_ORDER, after, last))


def copies_between(archive: Archive, session: int, after: int, last: int) -> list[StoredStep]:
    """The steps of a range of numbers that a session holds as copies."""
    query = f"{_OF_COPIES} session.id = ? AND step_copy.step > ? AND step_copy.step <= ?{_IN_ORDER}"
    return _read(archive, archive.rows(query, session, after, last))


def last_that_fits(steps: list[tuple[int, int | None]]) -> int:
    """Of steps and their sizes the last one that a batch has room for; one always."""
    room = _MOST_BYTES
    last = steps[0][0]
    for number, size in steps:
        room -= size or 0
        if room < 0:
            break
        last = number
    return last


def _read(archive: Archive, rows: list[tuple[int, str | None, float]]) -> list[StoredStep]:
    numbers: dict[str | None, list[int]] = {}
    for number, holder, _ in rows:
        numbers.setdefault(holder, []).append(number)
    read = {holder: read_steps(archive, chosen, holder) for holder, chosen in numbers.items()}
    return [read[holder][number] for number, holder, _ in rows if number in read[holder]]
