from __future__ import annotations

import pytest

from unified_state.errors import NotFoundError, StorageError, UnifiedStateError, UsageError


def test_an_error_is_one_line_of_what_and_what_to_do() -> None:
    assert (
        str(StorageError("a.json cannot be written", "free some space")) == "a.json cannot be written; free some space"
    )


def test_without_a_hint_an_error_says_what_happened() -> None:
    assert str(NotFoundError("there is no item D7")) == "there is no item D7"


def test_message_and_hint_can_be_read_apart() -> None:
    error = UsageError("unknown ref 'x'", "refs look like D7")
    assert (error.message, error.hint) == ("unknown ref 'x'", "refs look like D7")


@pytest.mark.parametrize("error", UnifiedStateError.__subclasses__())
def test_every_error_knows_its_exit_code(error: type[UnifiedStateError]) -> None:
    assert error("what").exit_code == (2 if error is UsageError else 1)
