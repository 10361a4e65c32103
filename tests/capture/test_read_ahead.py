"""A second process reads ahead. Whatever becomes of it, each chunk comes once and in order."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable

import pytest

from unified_state.capture.read_ahead import ReadAhead
from unified_state.lib.processes import count_processors
from unified_state.lib.record import Record

END = 40
NOT_HERE = "nothing"

pytestmark = pytest.mark.skipif(count_processors() < 2, reason="a second process needs a second processor")


class Chunk(Record):
    """A part of a file, and which process read it."""

    end: int
    reader: int
    is_postponed: bool = False


def read(offset: int) -> Chunk:
    return Chunk(min(END, offset + 1), os.getpid())


def chunks(read_there: Callable[[int], Chunk], offsets: range = range(END)) -> list[Chunk]:
    with ReadAhead(read, read_there) as ahead:
        return [ahead(offset) for offset in offsets]


def are_whole(found: list[Chunk]) -> bool:
    return [chunk.end for chunk in found] == list(range(1, END + 1))


def test_all_chunks_but_the_first_come_from_the_second_process() -> None:
    found = chunks(read)
    assert are_whole(found)
    assert len({chunk.reader for chunk in found[1:]} - {os.getpid()}) == 1
    assert found[0].reader == os.getpid() not in {chunk.reader for chunk in found[1:]}


def killed(offset: int) -> Chunk:
    if offset == END // 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return read(offset)


def failing(offset: int) -> Chunk:
    if offset == END // 2:
        raise ValueError(NOT_HERE)
    return read(offset)


def at_long_line(offset: int) -> Chunk:
    return read(offset).replace(is_postponed=offset == END // 2)


@pytest.mark.parametrize("read_there", [killed, failing, at_long_line])
def test_what_it_does_not_send_the_first_process_reads(
    read_there: Callable[[int], Chunk], capfd: pytest.CaptureFixture[str]
) -> None:
    found = chunks(read_there)
    assert are_whole(found)
    readers = [chunk.reader == os.getpid() for chunk in found]
    assert readers[1 : END // 2] == [False] * (END // 2 - 1)
    assert readers[END // 2 + 1 :] == [True] * (END // 2 - 1)
    assert capfd.readouterr() == ("", "")


def test_a_file_that_begins_anew_is_read_by_the_first_process() -> None:
    with ReadAhead(read, read) as ahead:
        assert [ahead(offset).end for offset in (0, 1, 2, 0, 1)] == [1, 2, 3, 1, 2]


def test_it_ends_with_the_block_even_while_it_works() -> None:
    def slow(offset: int) -> Chunk:
        time.sleep(3600 if offset == 3 else 0)
        return read(offset)

    found = chunks(slow, range(3))
    with pytest.raises(ProcessLookupError):
        os.kill(found[-1].reader, 0)


def test_a_process_that_cannot_be_made_is_done_without() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = os.open(os.devnull, os.O_RDONLY)
    os.close(used)
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 1, hard))  # a pipe needs two
    try:
        found = chunks(read)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert are_whole(found)
    assert {chunk.reader for chunk in found} == {os.getpid()}
