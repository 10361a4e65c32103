from __future__ import annotations

import pytest

from unified_state.capture.rules.refusals import did_not_run, refusal

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, ...)."
)


def test_the_users_own_words_are_the_reason() -> None:
    assert refusal(f"{REFUSED} To tell you how to proceed, the user said:\npull rebase first") == "pull rebase first"


def test_what_the_client_adds_to_them_is_not() -> None:
    note = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
    assert refusal(f"{REFUSED} To tell you how to proceed, the user said:\nnot yet{note}") == "not yet"


def test_a_refusal_without_a_word_has_no_reason() -> None:
    assert refusal(f"{REFUSED} STOP what you are doing and wait for the user to tell you how to proceed.") == ""


@pytest.mark.parametrize("result", ["Exit code 1\nthe user said:\nno", "", "make: the user doesn't want to proceed"])
def test_another_error_is_no_refusal(result: str) -> None:
    assert refusal(result) is None


def test_a_call_that_was_called_off_for_another_did_not_run() -> None:
    assert did_not_run("<tool_use_error>Sibling tool call errored</tool_use_error>")
    assert not did_not_run("<tool_use_error>File does not exist.</tool_use_error>")
