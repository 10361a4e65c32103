from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.builders import HOUR, NOW, SESSION, Entry, answer, boundary, call, prompt, result
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.restore.tried_before import tried_before

OTHER = "0ther000-0000-4000-8000-00000000cafe"
CHECK = "go test ./..."


def failed(number: int, file: str = "src/price.go") -> list[Entry]:
    """An edit, and a check that fails after it."""
    return [
        answer(
            number, call(f"e{number}", "Edit", file_path=f"/home/ada/shop/{file}", new_string="x"), cwd="/home/ada/shop"
        ),
        result(number + 1, f"e{number}", "updated"),
        answer(number + 2, call(f"c{number}", "Bash", command=CHECK)),
        result(number + 3, f"c{number}", "--- FAIL: TestPrice", is_error=True),
    ]


@pytest.fixture
def before(archive: Archive, keep: Callable[..., None]) -> Callable[..., str]:
    """What a prompt is told, in a new session if no other is named."""

    def ask(text: str, session: str = OTHER) -> str:
        with archive.transaction():
            number = touch_session(archive, session, NOW)
        return tried_before(archive, number, session, text, NOW + HOUR)

    keep(prompt(0, "fix the price"), *failed(1))
    return ask


@pytest.mark.parametrize("text", ["fix price.go please", "look at `src/price.go:12`", f"why does {CHECK} fail?"])
def test_a_prompt_that_names_the_file_or_the_command_is_told(before: Callable[..., str], text: str) -> None:
    told = before(text)
    assert "A1 (observed): edited src/price.go" in told
    assert "--- FAIL: TestPrice" in told


@pytest.mark.parametrize("text", ["fix the price", "fix other.go", "go", ""])
def test_another_prompt_is_told_nothing(before: Callable[..., str], text: str) -> None:
    assert before(text) == ""


def test_it_is_told_once(before: Callable[..., str]) -> None:
    assert before("fix price.go")
    assert before("fix price.go") == ""


def test_the_conversation_that_tried_it_knows(before: Callable[..., str]) -> None:
    assert before("fix price.go", SESSION) == ""


def test_after_a_compaction_it_may_not(before: Callable[..., str], keep: Callable[..., None]) -> None:
    keep(boundary(9))
    assert "A1" in before("fix price.go", SESSION)


def test_what_passed_since_is_no_warning(before: Callable[..., str], keep: Callable[..., None]) -> None:
    keep(answer(10, call("again", "Bash", command=CHECK)), result(11, "again", "ok"))
    assert before("fix price.go") == ""
