from __future__ import annotations

from collections.abc import Callable

from tests.builders import answer, call, prompt, result
from unified_state.archive.archive import Archive
from unified_state.restore.work_in_short import work_in_short

Keep = Callable[..., None]


def test_the_summariser_is_told_of_decisions_files_tools_and_the_last_turns(archive: Archive, keep: Keep) -> None:
    keep(
        prompt(1, "Make the limiter fair."),
        answer(2, "I decided to use a token bucket instead of a window."),
        answer(3, call("t1", "Edit", file_path="limiter.py", old_string="a", new_string="b")),
        result(4, "t1", "done"),
        answer(5, "Let me look at the tests."),
        prompt(6, "Now the tests."),
    )
    assert list(work_in_short(archive, 1)) == [
        "Decided or explained by the agent: I decided to use a token bucket instead of a window.",
        "Files edited: limiter.py",
        "Tools: Edit 1",
        "T1 asked: Make the limiter fair.",
        "T2 asked: Now the tests.",
    ]


def test_what_a_subagent_decided_is_not_told_as_the_agents_decision(archive: Archive, keep: Keep) -> None:
    keep(
        prompt(1, "Look."),
        answer(2, call("t1", "Task", prompt="Look at it")),
        result(3, "t1", "I decided to use a token bucket instead of a window."),
    )
    assert list(work_in_short(archive, 1)) == ["Tools: Task 1", "T1 asked: Look."]


def test_a_session_without_work_has_no_lines(archive: Archive, keep: Keep) -> None:
    keep(answer(1, "Hello."))
    assert list(work_in_short(archive, 1)) == []
