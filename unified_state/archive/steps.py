"""Steps and turns: their storage, the queries for them, and the queues of work on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.lib.json_text import parse_json
from unified_state.lib.record import Record
from unified_state.lib.text import (
    UNREADABLE,
    each_word_once,
    escape_surrogates,
    index_text,
    strings_of,
    unpack,
    without_line_numbers,
)
from unified_state.model.step import KINDS, PROMPT, TEXT, TOOL_CALL, TOOL_RESULT, Step

KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
DATA_URL = "data:"
_MOST_SEARCHED = 1 << 20  # characters of a step; far more than a client shows a model
_RECENT_TURNS = 20  # newest turns in which a recent step is searched


def readable(step: Step) -> str:
    """Return the text of a step for search and display; for a tool call its name and the texts of its input."""
    if step.kind != TOOL_CALL:
        return step.text
    try:
        given = strings_of(parse_json(step.text))
    except (ValueError, RecursionError):  # the disk changed its bytes, or it is nested too deep
        given = step.text
    return f"{escape_surrogates(step.tool or '')}\n{given}"


def searchable(step: Step) -> str:
    """Return the text of a step for the full-text index, which needs several times its size.

    It has each word once, the parts of names of code, and not the numbers before the lines of a file.
    """
    text = readable(step)[:_MOST_SEARCHED]
    if step.kind == TOOL_RESULT:
        text = without_line_numbers(text)
    return each_word_once(index_text(text), with_parts=True)


def add_to_index(archive: Archive, number: int, step: Step) -> None:
    """Index a step."""
    if not step.text.startswith(DATA_URL):
        archive.execute("INSERT INTO step_words (rowid, text) VALUES (?, ?)", (number, searchable(step)))


def take_from_index(archive: Archive, number: int, step: Step) -> None:
    """Delete a step from the index. The index has no content of its own, and deleting a missing row corrupts it.

    The words of a damaged text are unknown. So all others are indexed anew, and the next search waits for that.
    """
    if archive.run("DELETE FROM unindexed WHERE step = ?", number) or step.text.startswith(DATA_URL):
        return
    if step.text == UNREADABLE:
        empty_index(archive)
        archive.run("INSERT OR IGNORE INTO unindexed SELECT id FROM step WHERE kind NOT NULL AND id != ?", number)
    else:
        delete = "INSERT INTO step_words (step_words, rowid, text) VALUES ('delete', ?, ?)"
        archive.run(delete, number, searchable(step))


def empty_index(archive: Archive) -> None:
    """Delete all of the index."""
    archive.run("INSERT INTO step_words (step_words) VALUES ('delete-all')")


def last_entry_at(archive: Archive, session: int) -> int | None:
    """Return the time of a session's own newest entry, by the client's clock; None if it has none."""
    return archive.value(
        "SELECT max(at) FROM step WHERE turn = "
        "(SELECT id FROM turn WHERE session = ? AND agent IS NULL ORDER BY id DESC LIMIT 1)",
        session,
    )


def texts_since(archive: Archive, session: int, kinds: tuple[str, ...], since: int) -> list[tuple[int, str]]:
    """Return time and text of a session's steps of some kinds that were written since then, in its last turns."""
    query = (
        "SELECT step.at, step.body FROM (SELECT id FROM turn WHERE session = ? ORDER BY id DESC LIMIT ?) AS recent "
        f"JOIN step ON step.turn = recent.id WHERE step.at >= ? AND kind IN ({_numbers(kinds)}) ORDER BY step.id"
    )
    return [(at, unpack(body)) for at, body in archive.rows(query, session, _RECENT_TURNS, since)]


def _numbers(kinds: Iterable[str]) -> str:
    return ", ".join(str(KIND_NUMBERS[kind]) for kind in kinds)


# The fields in a row of the table `step`, each in a column of its name; `agent` and `starts_turn` belong to the turn.
STEP_FIELDS = tuple(name for name in Step.names if name not in {"agent", "starts_turn"})
STEP_COLUMNS = ", ".join("body" if name == "text" else name for name in STEP_FIELDS)
_READ = ", ".join(f"step.{name}" for name in STEP_COLUMNS.split(", "))
_SELECT, _FROM = f"SELECT step.id, turn.agent, {_READ}", "FROM step JOIN turn ON turn.id = step.turn"
_SELECT_STEPS = f"{_SELECT} {_FROM} WHERE kind NOT NULL AND "


# A condition of the steps of the session ?1, its own and those shared with the session it was forked from.
_OF_SESSION = (
    "step.id IN (SELECT step.id FROM turn JOIN step ON step.turn = turn.id WHERE turn.session = ?1 "
    "UNION SELECT step FROM step_copy WHERE session = ?1)"
)
# The position of a step in its transcript. An output archived before its entry follows the step before that entry.
_PLACE = "coalesce((SELECT place FROM shortened WHERE shortened.step = step.id) + 0.5, step.id)"


def steps_of_turn(archive: Archive, turn: int) -> list[tuple[int, Step]]:
    """Return the steps of a turn in order, each with its number."""
    rows = archive.rows(_SELECT_STEPS + f"turn = ? ORDER BY {_PLACE}, step.id", turn)
    return [_numbered_step(row) for row in rows]


def numbers_of_turn(archive: Archive, turn: int) -> list[int]:
    """Return the numbers of the steps of a turn in order."""
    query = f"SELECT step.id FROM step WHERE turn = ? AND kind NOT NULL ORDER BY {_PLACE}, step.id"
    return archive.column(query, turn)


# Conditions of a step of the session ?1: its user did not take it back.
STANDS = "NOT EXISTS (SELECT 1 FROM rewind WHERE session = ?1 AND step.at > after_at AND step.at < until_at)"


WORK_KINDS = (PROMPT, TEXT, TOOL_CALL, TOOL_RESULT)


def recent_steps(
    archive: Archive,
    session: int,
    limit: int,
    kinds: tuple[str, ...] = WORK_KINDS,
    turns: int | None = None,
    *,
    of_agents: bool = False,
) -> list[tuple[int, Step]]:
    """Return the newest steps of some kinds in the last turns of a session itself (by default a quarter as many), in
    order, each with its turn, including those shared with the session it was forked from. `of_agents` adds those of its
    subagents. What the user took back is left out.
    """
    of_whom = "" if of_agents else "AND agent IS NULL"
    query = (
        f"SELECT step.turn, {_SELECT.removeprefix('SELECT ')} {_FROM} WHERE step.id IN (SELECT id FROM step "
        f"WHERE kind IN ({_numbers(kinds)}) AND {STANDS} AND id IN (SELECT id FROM step WHERE turn IN "
        f"(SELECT id FROM turn WHERE session = ?1 {of_whom} ORDER BY id DESC LIMIT ?3) "
        "UNION SELECT step FROM step_copy WHERE session = ?1) ORDER BY id DESC LIMIT ?2) ORDER BY step.id"
    )
    rows = archive.rows(query, session, limit, limit // 4 if turns is None else turns)
    return [(row[0], _numbered_step(row[1:])[1]) for row in rows]


def uses_of_turns(archive: Archive, session: int) -> dict[int, int]:
    """Return how many steps of each turn of a session were asked for by a search or `show`."""
    query = (
        "SELECT turn, count(*) FROM access CROSS JOIN step ON step.id = access.step "  # from the few that were
        "CROSS JOIN turn ON turn.id = step.turn WHERE session = ? GROUP BY turn"
    )
    return dict(archive.rows(query, session))


def opening_times(archive: Archive, turns: Iterable[int]) -> dict[int, int]:
    """Return when each of some turns was opened."""
    return dict(archive.rows(f"SELECT id, at FROM turn WHERE id IN ({', '.join(map(str, turns))})"))


def find_step(archive: Archive, number: int) -> Step | None:
    """Return one step by its number; None if it does not exist or was forgotten."""
    row = archive.row(_SELECT_STEPS + "step.id = ?", number)
    return None if row is None else _numbered_step(row)[1]


def damaged_steps(archive: Archive) -> list[int]:
    """Return the numbers of the steps whose texts cannot be read. It reads all of them."""
    packed = archive.execute("SELECT id, body FROM step WHERE typeof(body) = 'blob'")
    return [number for number, body in packed if unpack(body) == UNREADABLE]


def newest_steps(archive: Archive, session: int, kind: str, limit: int) -> list[int]:
    """Return the numbers of a session's own newest steps of a kind, the newest first."""
    query = (
        "SELECT step.id FROM turn JOIN step ON step.turn = turn.id WHERE turn.session = ? AND turn.agent IS NULL "
        "AND kind = ? ORDER BY step.id DESC LIMIT ?"
    )
    return archive.column(query, session, KIND_NUMBERS[kind], limit)


class StepPosition(Record):
    """A step, the session it belongs to, and whether its user took it back."""

    step: Step
    session: int
    session_id: str
    is_taken_back: bool = False


def find_placed(archive: Archive, numbers: Sequence[int]) -> dict[int, StepPosition]:
    """Return the existing steps with their sessions, by their numbers, in order."""
    rows = archive.rows(
        f"{_SELECT}, session.id, session_id, EXISTS (SELECT 1 FROM rewind WHERE rewind.session = turn.session "
        f"AND step.at > after_at AND step.at < until_at) {_FROM} JOIN session ON session.id = turn.session "
        f"WHERE kind NOT NULL AND step.id IN ({', '.join(map(str, numbers))}) ORDER BY step.id"
    )
    return {row[0]: StepPosition(_numbered_step(row[:-3])[1], row[-3], row[-2], bool(row[-1])) for row in rows}


def call_of_result(archive: Archive, session: int, tool_use_id: str) -> Step | None:
    """Return the tool call that a result belongs to, in one of the session's last turns, or None."""
    turns = "SELECT id FROM turn WHERE session = ? ORDER BY id DESC LIMIT ?"
    query = _SELECT_STEPS + f"turn IN ({turns}) AND tool_use_id = ? AND kind = ? ORDER BY step.id DESC LIMIT 1"
    row = archive.row(query, session, _RECENT_TURNS, tool_use_id, KIND_NUMBERS[TOOL_CALL])
    return None if row is None else _numbered_step(row)[1]


def calls_and_texts_before(archive: Archive, step: Step, limit: int) -> Iterator[Step]:
    """Yield the tool calls and texts of the same session or subagent among the `limit` steps of the archive before this
    one, the newest first.
    """
    place = "coalesce((SELECT place FROM shortened WHERE shortened.step = step.id) + 1, step.id)"
    where = "FROM step JOIN turn ON turn.id = turn WHERE uuid = ? AND block = ?"
    row = archive.row(f"SELECT {place}, session, agent {where}", uuid_key(step.uuid), step.block)
    if row is not None:
        number, *owner = row
        chosen = (
            f"step.id < ? AND step.id >= ? AND session = ? AND agent IS ? AND kind IN ({_numbers((TOOL_CALL, TEXT))})"
        )
        for found in archive.execute(
            f"{_SELECT_STEPS}{chosen} ORDER BY step.id DESC", (number, number - limit, *owner)
        ):
            yield _numbered_step(found)[1]


def last_turns(archive: Archive, session: int, limit: int) -> list[int]:
    """Return the newest turns of a session, newest first, including those shared with the session it was forked
    from.
    """
    query = (
        "SELECT id FROM (SELECT id FROM turn WHERE session = ?1 AND agent IS NULL ORDER BY id DESC LIMIT ?2) "
        "UNION SELECT turn FROM step WHERE id IN "
        "(SELECT step FROM step_copy WHERE session = ?1 ORDER BY step DESC LIMIT 200) ORDER BY 1 DESC LIMIT ?2"
    )
    return archive.column(query, session, limit)


def step_numbers(archive: Archive, session: int) -> list[int]:
    """Return the numbers of all steps of a session, its own and the shared ones, in order."""
    query = f"SELECT step.id FROM step WHERE kind NOT NULL AND {_OF_SESSION} ORDER BY {_PLACE}, step.id"
    return archive.column(query, session)


def turn_of_step(archive: Archive, number: int) -> int:
    """Return the turn of a step."""
    return int(archive.row("SELECT turn FROM step WHERE id = ?", number)[0])


def uuids_of_turns_with(archive: Archive, numbers: Sequence[int]) -> set[str]:
    """Return the uuids of all entries in the turns of some steps."""
    turns = f"SELECT turn FROM step WHERE id IN ({', '.join(map(str, numbers))})"
    return set(map(uuid_text, archive.column(f"SELECT DISTINCT uuid FROM step WHERE turn IN ({turns})")))


def uuid_of_step(archive: Archive, number: int) -> str:
    """Return the uuid of a step's transcript entry."""
    return uuid_text(archive.row("SELECT uuid FROM step WHERE id = ?", number)[0])


def sessions_of_step(archive: Archive, number: int) -> list[int]:
    """Return the numbers of the sessions that have a step, or had it before it was forgotten."""
    own = "SELECT session FROM step JOIN turn ON turn.id = step.turn WHERE step.id = ?1"
    return archive.column(f"{own} UNION SELECT session FROM step_copy WHERE step = ?1", number)


def _numbered_step(row: Any) -> tuple[int, Step]:
    number, agent, *values = row
    fields = dict(zip(STEP_FIELDS, values, strict=True))
    fields["uuid"], fields["kind"] = uuid_text(fields["uuid"]), KINDS[fields["kind"]]
    fields["text"], fields["is_error"] = unpack(fields["text"]), bool(fields["is_error"])
    return number, Step(**fields, agent=agent)


def uuid_key(uuid: str) -> str | bytes:
    """Return a uuid in its stored form: 16 bytes, or the text itself if it is not a UUID in the usual form."""
    if len(uuid) == 36 and uuid[8] == uuid[13] == uuid[18] == uuid[23] == "-":  # noqa: PLR2004
        try:
            key = bytes.fromhex(uuid.replace("-", ""))
        except ValueError:
            return uuid
        if uuid_text(key) == uuid:
            return key
    return uuid


def uuid_text(key: str | bytes) -> str:
    """Return a stored uuid in its usual form."""
    if isinstance(key, str):
        return key
    digits = key.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def queue_step(archive: Archive, session: int, step: int) -> None:
    """Queue a step of a session for `capture.derive`."""
    archive.execute("INSERT OR IGNORE INTO unnoted VALUES (?, ?)", (session, step))


def queued_steps(archive: Archive, session: int, limit: int = -1) -> list[int]:
    """Return the numbers of a session's queued steps in the order of the transcript."""
    where = f"session = ? ORDER BY {_PLACE} LIMIT ?"
    return archive.column(f"SELECT step.id FROM unnoted JOIN step ON step.id = step WHERE {where}", session, limit)


def queue_again(archive: Archive, session: int) -> None:
    """Queue all steps of a session for `capture.derive`, without those that its user took back."""
    archive.run("DELETE FROM unnoted WHERE session = ?", session)
    chosen = f"SELECT ?1, step.id FROM step WHERE kind NOT NULL AND {_OF_SESSION} AND {STANDS}"
    archive.run(f"INSERT INTO unnoted {chosen}", session)


def unqueue_steps(archive: Archive, session: int, steps: Sequence[int]) -> None:
    """Remove steps of a session from the queue."""
    archive.execute(f"DELETE FROM unnoted WHERE session = ? AND step IN ({', '.join(map(str, steps))})", (session,))


def index_left(archive: Archive, most: int = -1) -> None:
    """Index the queued steps, at most the `most` newest ones. Call it in a transaction."""
    newest = "SELECT step FROM (SELECT step FROM unindexed ORDER BY step DESC LIMIT ?) ORDER BY step"
    numbers = archive.column(newest, most)
    for number in numbers:
        step = find_step(archive, number)
        if step is not None:
            add_to_index(archive, number, step)
        archive.run("DELETE FROM unindexed WHERE step = ?", number)


def calls_that_went_well(archive: Archive, tools: Sequence[str], most: int) -> list[tuple[int, int, str | None]]:
    """Return number, time and the session's root of the newest calls of some tools whose results are no errors,
    the newest first.
    """
    query = (
        "SELECT step.id, step.at, session.root FROM step JOIN turn ON turn.id = step.turn "
        f"JOIN session ON session.id = turn.session WHERE kind = ? AND tool IN ({', '.join('?' * len(tools))}) "
        "AND NOT EXISTS (SELECT 1 FROM step AS result WHERE result.turn = step.turn AND result.is_error "
        "AND result.tool_use_id = step.tool_use_id) ORDER BY step.id DESC LIMIT ?"
    )
    return archive.rows(query, KIND_NUMBERS[TOOL_CALL], *tools, most)
