"""Groups the texts of older steps into blocks, and takes blocks apart.

Hooks that the client waits for write each text by itself. Later work groups them in small transactions, so a killed
process loses one of them at most. The table `ungrouped` says where texts may be left, so nothing searches for them. A
text that is forgotten or replaced first leaves its block: all texts of the block become bodies of their steps again.
"""

from __future__ import annotations

from unified_state.lib.text import UNREADABLE, pack, unpack
from unified_state.memory.archive.blocks.text_block import (
    LONGEST_TEXT,
    PLACE_BITS,
    PLAIN_BYTES,
    block_of,
    is_whole,
    name_of,
    read_block,
    without_text,
)
from unified_state.memory.archive.blocks.write_blocks import BlockWriter
from unified_state.memory.archive.small_steps import in_small_steps
from unified_state.memory.archive.steps import STEP_COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from unified_state.memory.archive.archive import Archive

_NEWEST = 50  # steps that stay as they are: hooks read them most
_RANGE = 2_000  # step numbers that one transaction looks at
_BLOCKS = 8  # that one transaction writes, which takes about 10 ms
_ENOUGH = PLAIN_BYTES // 3  # bytes of packed texts that likely fill a block
_ALONE = "typeof(body) IN ('text', 'blob')"
# SQLite joins pages that are nearly empty when a row is deleted, but not when it becomes smaller.
_COLUMNS = f"id, turn, {STEP_COLUMNS}"
_TAKE, _DROP = f"SELECT {_COLUMNS} FROM step WHERE id = ?", "DELETE FROM step WHERE id = ?"
_PUT = f"INSERT INTO step ({_COLUMNS}) VALUES (?, ?{', ?' * len(STEP_COLUMNS.split(', '))})"
_BODY = _COLUMNS.split(", ").index("body")
_NAMED = "typeof(body) = 'integer' AND body BETWEEN ? AND ?"
_AGAIN = (
    "INSERT OR IGNORE INTO ungrouped SELECT ?1, ?2 "
    "WHERE ?1 < coalesce((SELECT first FROM ungrouped WHERE last IS NULL), 0)"
)


def group_left(archive: Archive, has_time: Callable[[], bool] = lambda: True, most: int = -1) -> None:
    """Group what is left in at most so many transactions, while there is time."""
    while most and has_time() and is_any_ungrouped(archive) and group_some(archive):
        most -= 1


def is_any_ungrouped(archive: Archive) -> bool:
    """Return whether there may be enough to group. Journals keep each text in its own line."""
    if archive.has_journal:
        return False
    if _is_any_gap(archive):
        return True
    begin, last = _open_end(archive)
    if last - begin >= _RANGE:
        return True
    waiting = f"SELECT sum(length(CAST(body AS BLOB))) FROM step WHERE id BETWEEN ? AND ? AND {_ALONE}"
    return (archive.value(f"{waiting} AND length(body) < ?", begin, last, LONGEST_TEXT) or 0) >= _ENOUGH


def group_gaps(archive: Archive) -> None:
    """Group what taking blocks apart has left."""
    for _ in in_small_steps(lambda _size: int(_is_any_gap(archive) and group_some(archive)), 1, 1):
        pass


def _is_any_gap(archive: Archive) -> bool:
    gap = "SELECT 1 FROM ungrouped WHERE last NOT NULL LIMIT 1"
    return not archive.has_journal and archive.row(gap) is not None


def group_some(archive: Archive) -> bool:
    """Group texts in one transaction. Return whether it came further."""
    with archive.transaction():
        row = archive.row("SELECT first, last FROM ungrouped WHERE last NOT NULL ORDER BY first LIMIT 1")
        begin, last = row or _open_end(archive)
        end = min(last, begin + _RANGE - 1)
        left = _group(archive, begin, end, fills_up=row is not None and end == last)
        if left == begin and end < last:  # so few texts must not hold up those behind them
            left = end + 1
        if left == begin:
            return False
        archive.run("DELETE FROM ungrouped WHERE first = ?", begin)
        if row is None or left <= last:
            archive.run("INSERT INTO ungrouped VALUES (?, ?)", left, None if row is None else last)
    return True


def _open_end(archive: Archive) -> tuple[int, int]:
    """Return the first step that no run has looked at, and the last one that may be grouped."""
    begin = archive.value("SELECT first FROM ungrouped WHERE last IS NULL")
    return begin or 1, (archive.value("SELECT max(id) FROM step") or 0) - _NEWEST


def _group(archive: Archive, begin: int, end: int, *, fills_up: bool) -> int:
    """Group the texts of a range of steps, and return the first step that is left.

    Only at the end of a part that is not the newest, a block may be smaller than others.
    """
    writer, named, written = BlockWriter(archive), list[tuple[int, int]](), 0
    alone = f"SELECT id FROM step WHERE id BETWEEN ? AND ? AND {_ALONE} AND length(CAST(body AS BLOB)) <= ?"
    for number in archive.column(f"{alone} ORDER BY id", begin, end, LONGEST_TEXT):
        text = unpack(archive.value("SELECT body FROM step WHERE id = ?", number))
        name = writer.put(number, text) if text != UNREADABLE else ""
        if isinstance(name, int):
            named.append((name, number))
        if named and writer.is_flushed:
            _name(archive, named)
            named, written = [], written + 1
            if written == _BLOCKS:
                return int(number) + 1
    if fills_up and len(named) > 1:
        writer.flush()
        _name(archive, named)
    return end + 1 if fills_up or not named else named[0][1]


def _name(archive: Archive, named: list[tuple[int, int]]) -> None:
    """Replace the bodies of steps by names of their places in blocks."""
    rows = [(*row[:_BODY], name, *row[_BODY + 1 :]) for name, number in named for row in archive.rows(_TAKE, number)]
    archive.connection.executemany(_DROP, [(number,) for _, number in named])
    archive.connection.executemany(_PUT, rows)


def ungroup(archive: Archive, number: int) -> None:
    """Take the block of a step apart, if it is in one. Call it in the transaction that changes the text.

    A damaged block stays, without the text of this step, so that `doctor` goes on to report the others.
    """
    name = archive.value("SELECT body FROM step WHERE id = ?", number)
    if not isinstance(name, int):
        return
    first = block_of(name)
    row = archive.row("SELECT last, body FROM text_block WHERE id = ?", first)
    if row is None:
        return  # the block is lost
    last, stream = row
    names = name_of(first, 0), name_of(first + 1, 0) - 1
    found = archive.rows(f"SELECT body, id FROM step WHERE id BETWEEN ? AND ? AND {_NAMED}", first, last, *names)
    texts = read_block(stream)
    if not texts and len(found) > 1:
        archive.run("UPDATE text_block SET body = ? WHERE id = ?", without_text(stream, name - names[0]), first)
        return
    if texts and len(found) != len(texts):
        found = archive.rows(f"SELECT body, id FROM step WHERE {_NAMED}", *names)
    for place, step in ((one - names[0], step) for one, step in found):
        text = texts[place].decode("utf-8", "surrogatepass") if place < len(texts) else UNREADABLE
        archive.run("UPDATE step SET body = ? WHERE id = ?", pack(text), step)
    archive.run("DELETE FROM text_block WHERE id = ?", first)
    archive.run(_AGAIN, first, last)


def damaged_parts(archive: Archive) -> list[tuple[int, int]]:
    """Return the first and the last step of each block that cannot be read, and of each step whose block is missing."""
    blocks = archive.execute("SELECT id, last, body FROM text_block")
    missing = "typeof(body) = 'integer' AND NOT EXISTS (SELECT 1 FROM text_block WHERE text_block.id = step.body >> ?)"
    lost = archive.column(f"SELECT id FROM step WHERE {missing}", PLACE_BITS)
    return [*((first, last) for first, last, body in blocks if not is_whole(body)), *((one, one) for one in lost)]
