"""Tool outputs that were shortened for the model. The whole output is archived as a step before its transcript entry.

The short form names the number of the step, so that number never changes. Its position is known when the transcript
entry is read. Until then the step is in the newest turn, with a uuid derived from its call.
"""

from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.archive.steps import KIND_NUMBERS
from unified_state.lib.record import Record
from unified_state.lib.text import pack
from unified_state.model.step import TOOL_RESULT

_LARGEST = (1 << 63) - 1
_CHARACTERS_A_TOKEN = 3.3  # of tool outputs, in o200k, measured on 16 real sessions


class Output(Record):
    """A tool output in its hook: the id of its call, the time, the whole masked text, a digest of call and output."""

    tool_use_id: str
    agent: str | None
    at: int
    text: str
    digest: int


class Savings(Record):
    """The savings and costs of short forms: outputs shortened, tokens saved, recalls, tokens returned by recalls.

    All numbers of tokens are estimates.
    """

    outputs: int = 0
    saved_tokens: int = 0
    recalls: int = 0
    recalled_tokens: int = 0


def archive_output(archive: Archive, session: int, session_id: str, output: Output) -> int:
    """Archive an output before its entry, and return the number of its step. Call it in a durable transaction."""
    uuid = f"{session_id}/{output.tool_use_id}/{output.digest}"
    known: int | None = archive.value("SELECT id FROM step WHERE uuid = ? AND block = 0", uuid)
    if known is not None:
        return known
    newest = "SELECT id FROM turn WHERE session = ? AND agent IS ? ORDER BY id DESC LIMIT 1"
    turn = archive.value(newest, session, output.agent)
    number = archive.insert(
        "step",
        turn=turn or archive.insert("turn", session=session, agent=output.agent, at=output.at),
        uuid=uuid,
        block=0,
        kind=KIND_NUMBERS[TOOL_RESULT],
        at=output.at,
        tool_use_id=output.tool_use_id,
        body=pack(output.text),
    )
    archive.insert("unindexed", step=number)  # indexing takes longer than everything else here
    return number


def note_shortened(archive: Archive, session: int, step: int, output: Output, *, level: int, shown: int) -> None:
    """Record that the model gets a short form of `shown` characters."""
    told = {name: value for name, value in output.as_dict().items() if name != "text"}
    numbers = {"level": level, "whole": len(output.text), "shown": shown, "awaited": 1}
    archive.insert("shortened", how="OR IGNORE", step=step, session=session, **told, **numbers)


def was_shortened(archive: Archive, session: int, digest: int) -> bool:
    """Return whether the session already got a short form of the same output of the same call."""
    return bool(archive.row("SELECT 1 FROM shortened WHERE session = ? AND digest = ? LIMIT 1", session, digest))


def shortened_since(archive: Archive, session: int, agent: str | None, since: int) -> bool:
    """Return whether the session, or its subagent, got a short form since a time."""
    query = "SELECT 1 FROM shortened WHERE session = ? AND agent IS ? AND at > ? LIMIT 1"
    return archive.row(query, session, agent, since) is not None


def note_recall(archive: Archive, step: int, characters: int) -> None:
    """Count a recall of an output, if the model got a short form of it."""
    change = "UPDATE shortened SET recalls = recalls + 1, recalled = min(?, recalled + ?) WHERE step = ?"
    archive.run(change, _LARGEST, characters, step)


def read_savings(archive: Archive, session: int | None = None) -> Savings:
    """Return the savings of a session, or of all sessions."""
    saved, recalled = (f"max(0, round(coalesce(sum({of}), 0) / ?2))" for of in ("whole - shown", "recalled"))
    counts = f"count(*), {saved}, coalesce(sum(recalls), 0), {recalled}"
    query = f"SELECT {counts} FROM shortened WHERE session = coalesce(?1, session)"
    return Savings(*map(int, archive.row(query, session, _CHARACTERS_A_TOKEN)))


def whole_of(seen: str, archived: str, ref: str, shown: int) -> str | None:
    """Return the whole output for the step of a transcript entry; None if the entry belongs to another output.

    `seen` is the entry, `shown` the length of the short form. The client may add text before and after the short form.
    It is all appended to the output, so that lines keep the numbers that the short form names. An entry without our
    handle has the whole output, because the hook was killed before it could answer.
    """
    at = seen.find(f"[{ref}: ")
    if at < 0:
        return seen if archived.strip() in seen else None
    before, behind = seen[:at].strip(), seen[at + shown :]
    added = behind if behind.startswith("\n") else ""
    return archived + added + (f"\n\n{before}" if before else "")
