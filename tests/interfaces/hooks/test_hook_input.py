from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.interfaces.tool_hook import parse_event, read_stdin
from unified_state.model.hook_event import HookEvent

EVENT = {"hook_event_name": "Stop", "session_id": "s", "cwd": "/", "agent_type": "", "last_assistant_message": "done"}


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)


def test_everything_is_read_up_to_the_end(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.write(writer, b"not even JSON")
    os.close(writer)
    assert read_stdin(reader, 5) == b"not even JSON"


def test_a_caller_that_does_not_close_its_end_is_not_waited_for(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.write(writer, json.dumps(EVENT).encode())
    before = time.monotonic()
    assert json.loads(read_stdin(reader, 60)) == EVENT
    assert time.monotonic() - before < 30
    os.close(writer)


def test_an_object_in_several_pieces_is_read_whole(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    raw = json.dumps({**EVENT, "nested": {"a": {}}, "last_assistant_message": "}" * 200_000}).encode()

    def write() -> None:
        for begin in range(0, len(raw), 50_001):
            os.write(writer, raw[begin : begin + 50_001])

    thread = threading.Thread(target=write)
    thread.start()
    assert read_stdin(reader, 60) == raw
    thread.join()
    os.close(writer)


def test_a_slow_caller_is_read_to_its_end(pipe: tuple[int, int]) -> None:
    reader, writer = pipe

    def write() -> None:
        for _ in range(30):
            time.sleep(0.1)
            os.write(writer, b"x" * 1_000)
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    assert len(read_stdin(reader, 2)) == 30_000
    thread.join()


def test_what_came_within_the_time_is_what_there_is(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.write(writer, b'{"session_id": "s"')
    assert read_stdin(reader, 0.01) == b'{"session_id": "s"'
    os.close(writer)


def test_nothing_within_the_time_is_nothing(pipe: tuple[int, int]) -> None:
    assert read_stdin(pipe[0], 0.01) == b""
    os.close(pipe[1])


def test_an_event_has_its_fields() -> None:
    event, problem = parse_event(json.dumps(EVENT).encode(), "Stop")
    assert problem is None
    assert event == HookEvent("Stop", session_id="s", cwd="/", agent_type="", extra={"last_assistant_message": "done"})


def test_an_event_without_a_name_has_the_one_it_was_called_by() -> None:
    assert parse_event(b"{}", "Stop")[0].hook_event_name == "Stop"


@pytest.mark.parametrize("raw", [b"", b"  \n"])
def test_nothing_is_an_empty_event(raw: bytes) -> None:
    assert parse_event(raw, "Stop") == (HookEvent("Stop"), None)


@pytest.mark.parametrize("raw", [b"{", b"\xff", b"hello", b"[" * 100_000])
def test_what_is_no_json_is_an_empty_event_and_a_problem(raw: bytes) -> None:
    event, problem = parse_event(raw, "Stop")
    assert event == HookEvent("Stop")
    assert problem is not None
    assert problem.startswith("the input of the Stop hook is not JSON: ")


@pytest.mark.parametrize("raw", [b"[]", b"5", b"null", b'"text"'])
def test_what_is_no_object_is_an_empty_event_and_a_problem(raw: bytes) -> None:
    assert parse_event(raw, "Stop") == (HookEvent("Stop"), "the input of the Stop hook is not an object")


def test_a_field_of_another_type_counts_as_missing() -> None:
    event, problem = parse_event(b'{"session_id": 5, "cwd": null, "transcript_path": ["a"]}', "Stop")
    assert (event.session_id, event.cwd, event.transcript_path, event.extra, problem) == ("", "", "", {}, None)


def test_a_field_that_has_our_own_name_is_a_field_like_any_other() -> None:
    assert parse_event(b'{"extra": 1}', "Stop")[0].extra == {"extra": 1}


@given(st.binary() | st.dictionaries(st.text(), st.text()).map(lambda fields: json.dumps(fields).encode()))
def test_no_input_is_too_odd_to_be_asked(raw: bytes) -> None:
    event, _ = parse_event(raw, "Stop")
    assert event.session_id == event.session_id + ""
