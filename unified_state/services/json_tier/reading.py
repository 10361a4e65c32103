"""Reading a JSON history: the newest steps and turns of a session, what refs stand for.

A step's ref is its position (S123), a turn's that of its first step (T120), a compaction's its number (K2).
They hold as long as the history does: merged into an archive, steps get numbers of its own.
"""

from __future__ import annotations

from unified_state.rules.outlines import outline
from unified_state.rules.refs import TURN
from unified_state.storage.tiers.json_forms import plain
from unified_state.storage.tiers.json_steps import find_place, read_steps, steps_behind, steps_of_turn
from unified_state.storage.tiers.json_tables import Tables, session_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.records.history import StoredCompaction, StoredStep
    from unified_state.records.restore import TurnOutline
    from unified_state.services.json_tier.history import JsonHistory

    Numbered = tuple[int, StoredStep]

_AT_ONCE = 2_000  # steps among which the begin of a turn is looked for
_OUTLINED = 600  # steps in which the last turns are looked for
_STARTS_TURN = b'"starts_turn":true'  # within a text the quotes would be escaped


def newest_steps(history: JsonHistory, session_id: str, limit: int) -> list[Numbered]:
    """The newest steps of a session, in order."""
    tables = Tables(history.files)
    if session_id not in tables.numbers:
        return []
    lines = history.files.lines(session_file(tables.numbers[session_id]))
    return read_steps(history.files, tables, session_id, lines[-limit:])


def turns_of(steps: list[Numbered]) -> list[list[Numbered]]:
    """The turns of a session's own steps; those of subagents are left out."""
    turns: list[list[Numbered]] = []
    for number, step in steps:
        if step.agent is None:
            if step.starts_turn or not turns:
                turns.append([])
            turns[-1].append((number, step))
    return turns


def last_outlines(history: JsonHistory, session_id: str, limit: int) -> tuple[TurnOutline, ...]:
    """The last turns of a session in short, the newest first."""
    turns = turns_of(newest_steps(history, session_id, _OUTLINED))[-limit:]
    outlines = [outline(turn[0][0], turn[0][1].at, [plain(step) for _, step in turn]) for turn in turns]
    return tuple(reversed(outlines))


def steps_at(history: JsonHistory, kind: str, number: int) -> list[tuple[int, StoredStep]]:
    """The step at a position, or the turn that begins with it."""
    files, tables = history.files, Tables(history.files)
    session = find_place(files, tables, number)
    if session is None:
        return []
    if kind == TURN:
        return list(steps_of_turn(files, tables, session, number))
    found = steps_behind(files, tables, tables.names[session], session, number - 1, 1)
    return [(place, step) for place, step in found if place == number]


def begin_of_turn(history: JsonHistory, number: int, step: StoredStep) -> int:
    """The position at which the turn of a step begins."""
    for behind in range(number - _AT_ONCE, -_AT_ONCE, -_AT_ONCE):
        page = history.store.steps(step.session_id, max(0, behind), _AT_ONCE)
        begins = [place for place, one in page if place <= number and one.agent == step.agent and one.starts_turn]
        if begins:
            return begins[-1]
    return number


def compaction_numbers(history: JsonHistory) -> dict[int, StoredCompaction]:
    """The compactions by their numbers, in order."""
    tables = Tables(history.files)
    return {tables.cuts[name]: compaction for name, compaction in tables.compactions.items()}


def count_turns(history: JsonHistory) -> int:
    """How many turns there are."""
    numbers = Tables(history.files).numbers.values()
    return sum(part.count(_STARTS_TURN) for number in numbers for _, part in history.files.parts(session_file(number)))
