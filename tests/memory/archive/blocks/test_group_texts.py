from __future__ import annotations

import random
from pathlib import Path
from zlib import decompressobj

import pytest

from tests.indexed import check_index, steps_having
from unified_state.lib.text import UNREADABLE, pack
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.blocks.group_texts import (
    damaged_parts,
    group_gaps,
    group_left,
    group_some,
    is_any_ungrouped,
    ungroup,
)
from unified_state.memory.archive.blocks.text_block import LONGEST_TEXT
from unified_state.memory.archive.blocks.write_blocks import BlockWriter
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.archive.steps import find_step, index_left
from unified_state.memory.archive.text_columns import forget_step, replace_text
from unified_state.memory.archive.write_steps import StepWriter
from unified_state.model.step import PROMPT, TEXT, Step

NOW = 1_700_000_000_000
STEPS, NEWEST = 600, 50
MARKER = "xzvqMarker7391"
ODD = {11: "", 12: "half \ud83d", 13: "nul \0 in it", 14: "漢字 😀", 15: "y" * (LONGEST_TEXT + 1)}


def text_of(number: int) -> str:
    numbers = random.Random(number)
    return ODD.get(number, f"step {number}: " + " ".join(str(numbers.random()) for _ in range(30)))


def write(archive: Archive, first: int, last: int, *, in_blocks: bool = False) -> None:
    with archive.transaction():
        blocks = BlockWriter(archive) if in_blocks else None
        writer = StepWriter(archive, touch_session(archive, "s", NOW), None, blocks)
        for number in range(first, last + 1):
            uuid = f"{number:08x}-0000-4000-8000-000000000000"
            kind = PROMPT if number % 20 == 1 else TEXT
            text = text_of(number)
            step = Step(uuid=uuid, block=0, kind=kind, at=NOW, text=text, starts_turn=kind == PROMPT)
            writer.add(step, pack(text))
        if blocks is not None:
            blocks.flush()


def texts(archive: Archive) -> dict[int, str]:
    numbers = archive.column("SELECT id FROM step")
    return {number: step.text for number in numbers if (step := find_step(archive, number)) is not None}


def grouped(archive: Archive) -> list[int]:
    return archive.column("SELECT id FROM step WHERE typeof(body) = 'integer' ORDER BY id")


WRITTEN = {number: text_of(number) for number in range(1, STEPS + 1)}


@pytest.fixture
def written(archive: Archive) -> Archive:
    """An archive with steps whose texts are in no block."""
    write(archive, 1, STEPS)
    return archive


def test_grouping_changes_nothing_but_bodies(written: Archive) -> None:
    query = "SELECT id, turn, uuid, block, kind, at, tool, tool_use_id, is_error FROM step ORDER BY id"
    before = written.rows(query)
    group_left(written)
    assert written.rows(query) == before
    assert written.value("PRAGMA integrity_check") == "ok"


def test_grouping_changes_no_text_and_leaves_the_newest_steps_as_they_are(written: Archive) -> None:
    group_left(written)
    assert texts(written) == WRITTEN
    assert len(grouped(written)) > 200
    assert max(grouped(written)) <= STEPS - NEWEST
    assert not {11, 15} & set(grouped(written))


def test_grouping_makes_the_archive_smaller(written: Archive) -> None:
    written.compact()
    before = written.size()
    group_left(written)
    written.compact()
    assert written.size() < before


def test_grouping_goes_on_from_where_it_ended(written: Archive) -> None:
    group_left(written, most=1)
    first = grouped(written)
    assert first
    assert is_any_ungrouped(written)
    group_left(written)
    assert not group_some(written)
    assert set(first) < set(grouped(written))
    write(written, STEPS + 1, 2 * STEPS)
    group_left(written)
    assert max(grouped(written)) > STEPS
    assert texts(written) == {number: text_of(number) for number in range(1, 2 * STEPS + 1)}


def test_no_time_means_no_grouping(written: Archive) -> None:
    group_left(written, lambda: False)
    assert grouped(written) == []


def test_an_import_writes_blocks_at_once(archive: Archive) -> None:
    write(archive, 1, STEPS, in_blocks=True)
    assert len(grouped(archive)) == STEPS - 2
    assert texts(archive) == WRITTEN
    group_left(archive)
    assert texts(archive) == WRITTEN


def test_behind_an_import_grouping_goes_on(archive: Archive) -> None:
    write(archive, 1, 3 * STEPS, in_blocks=True)
    write(archive, 3 * STEPS + 1, 4 * STEPS)
    group_left(archive)
    assert max(grouped(archive)) > 3 * STEPS


@pytest.mark.parametrize("take", ["forget", "replace"])
def test_a_text_that_goes_leaves_no_byte_in_a_block(written: Archive, take: str) -> None:
    with written.transaction():
        number, step = 100, find_step(written, 100)
        assert step is not None
        replace_text(written, number, step, f"{MARKER} {step.text}")
    group_left(written)
    assert number in grouped(written)
    (stream,) = written.row("SELECT text_block.body FROM text_block WHERE 100 BETWEEN id AND last")
    with written.transaction():
        if take == "forget":
            forget_step(written, number)
        else:
            step = find_step(written, number)
            assert step is not None
            replace_text(written, number, step, "masked")
    left = {**WRITTEN, number: "masked"} if take == "replace" else {n: t for n, t in WRITTEN.items() if n != number}
    assert texts(written) == left
    content = Path(written.path).read_bytes()
    assert stream[100:160] not in content
    group_gaps(written)
    assert texts(written) == left
    assert written.column("SELECT first FROM ungrouped WHERE last NOT NULL") == []
    neighbours = set(range(101, 120))
    assert neighbours <= set(grouped(written))


def test_forgetting_many_steps_of_a_block_takes_it_apart_once(written: Archive) -> None:
    group_left(written)
    (blocks,) = written.row("SELECT count(*) FROM text_block")
    with written.transaction():
        for number in range(100, 110):
            forget_step(written, number)
    (left,) = written.row("SELECT count(*) FROM text_block")
    assert left >= blocks - 2
    assert written.row("SELECT count(*) FROM ungrouped WHERE last NOT NULL") <= (2,)


def test_all_steps_can_be_forgotten(written: Archive) -> None:
    group_left(written)
    with written.transaction():
        for number in range(1, STEPS + 1):
            forget_step(written, number)
    assert texts(written) == {}
    assert written.value("SELECT count(*) FROM text_block") == 0
    group_gaps(written)
    assert written.column("SELECT first FROM ungrouped WHERE last NOT NULL") == []


def damage(archive: Archive, at: int = 200) -> tuple[int, int]:
    """Change a byte of the second block; return its first and its last step."""
    first, last, stream = archive.row("SELECT id, last, body FROM text_block ORDER BY id LIMIT 1 OFFSET 1")
    changed = stream[:at] + bytes([stream[at] ^ 0x55]) + stream[at + 1 :]
    archive.run("UPDATE text_block SET body = ? WHERE id = ?", changed, first)
    return first, last


def test_of_a_damaged_block_only_its_texts_are_unreadable(written: Archive) -> None:
    group_left(written)
    first, last = damage(written)
    assert damaged_parts(written) == [(first, last)]
    for number, text in texts(written).items():
        is_lost = first <= number <= last and number in grouped(written)
        assert text == (UNREADABLE if is_lost else WRITTEN[number])


def test_a_step_of_a_damaged_or_a_missing_block_can_be_forgotten(written: Archive) -> None:
    group_left(written)
    first, last = damage(written)
    (missing,) = written.row("SELECT min(id) FROM text_block")
    written.run("DELETE FROM text_block WHERE id = ?", missing)
    assert (missing, missing) in damaged_parts(written)
    with written.transaction():
        forget_step(written, first)
        forget_step(written, missing)
    assert (first, last) in damaged_parts(written)
    assert missing not in [one for one, _ in damaged_parts(written)]
    assert find_step(written, first) is None
    assert find_step(written, missing) is None


def test_forgetting_a_step_of_a_damaged_block_takes_its_text_and_leaves_what_the_others_have(written: Archive) -> None:
    group_left(written)
    first, last = damage(written, at=1)
    word = text_of(first).split()[2][2:]
    assert steps_having(written, f'"{word}"') == [first]
    with written.transaction():
        forget_step(written, first)
    (stream,) = written.row("SELECT body FROM text_block WHERE id = ?", first)
    plain = decompressobj(-15).decompress(stream[4:])
    assert text_of(first).encode() not in plain
    assert f"step {first + 1}: ".encode() in plain
    with written.transaction():
        index_left(written)
    assert steps_having(written, f'"{word}"') == []
    assert texts(written)[last] == UNREADABLE
    others = [number for number in WRITTEN if not first <= number <= last]
    assert set(steps_having(written, "step")) >= {number for number in others if WRITTEN[number].startswith("step ")}
    check_index(written)
    with written.transaction():
        for number in range(first + 1, last + 1):
            forget_step(written, number)
    assert damaged_parts(written) == []
    assert written.value("SELECT count(*) FROM text_block WHERE id = ?", first) == 0


def test_a_block_whose_range_is_damaged_loses_nothing_when_it_is_taken_apart(written: Archive) -> None:
    group_left(written)
    number, _ = written.row("SELECT id, last FROM text_block ORDER BY id LIMIT 1 OFFSET 1")
    written.run("UPDATE text_block SET last = id + 3 WHERE id = ?", number)
    with written.transaction():
        ungroup(written, number)
    assert texts(written) == WRITTEN


def test_a_step_whose_block_is_lost_never_gets_the_text_of_another_one(written: Archive) -> None:
    group_left(written)
    (lost,) = written.row("SELECT max(id) FROM text_block")
    steps = [number for number in grouped(written) if number >= lost]
    written.run("DELETE FROM text_block WHERE id = ?", lost)
    write(written, STEPS + 1, STEPS + 300)
    group_left(written)
    assert written.value("SELECT max(id) FROM text_block") > lost
    assert {texts(written)[number] for number in steps} == {UNREADABLE}
