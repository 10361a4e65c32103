"""The end of the session before, for a new session: it answers "what were we doing?" in at most 150 tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.text import estimate_tokens
from unified_state.model.known import Prompt, RecentWork, RestoreInput, Statement
from unified_state.restore.rules.compose import compose
from unified_state.restore.rules.session_before import MOST_TOKENS, last_session

HOUR = 3_600_000


def said(*texts: str) -> tuple[Statement, ...]:
    return tuple(Statement(turn=1, at=HOUR, text=text) for text in texts)


ENDED = RestoreInput(
    reason="clear",
    now=3 * HOUR,
    prompts=(Prompt(turn=1, at=HOUR, text="Add retries to the client"),),
    recent=RecentWork(texts=said("Retries work.\n\nNext: honour `Retry-After`.")),
    pending_actions=("Honour Retry-After", "Write the docs"),
)


def test_it_tells_the_last_prompt_the_last_answer_and_the_next_step() -> None:
    assert last_session(ENDED) == (
        "[LAST SESSION] 2 h ago",
        [
            "  last prompt: Add retries to the client",
            "  last answer: Retries work. Next: honour `Retry-After`.",
            "  next: Honour Retry-After",
        ],
    )


def test_it_tells_in_which_other_worktree_that_was() -> None:
    told = last_session(ENDED.replace(ran_in="/home/ada/other"))
    assert told is not None
    assert told[0] == "[LAST SESSION] in /home/ada/other, 2 h ago"


@pytest.mark.parametrize("reason", ["startup", "clear"])
def test_a_new_session_is_told(reason: str) -> None:
    assert "[LAST SESSION] 2 h ago" in compose(ENDED.replace(reason=reason), 2000).brief


@pytest.mark.parametrize("reason", ["resume", "fork", "compact", "prompt", "subagent"])
def test_a_session_with_its_conversation_is_not(reason: str) -> None:
    assert "[LAST SESSION]" not in compose(ENDED.replace(reason=reason), 2000).brief


def test_of_a_long_answer_the_beginning_and_the_end_are_told() -> None:
    answer = f"The cache works. {'It took long. ' * 200}Next: measure it."
    _, lines = last_session(ENDED.replace(recent=RecentWork(texts=said(answer)))) or ("", [])
    assert lines[1].startswith("  last answer: The cache works.")
    assert lines[1].endswith("Next: measure it.")


@given(st.text(), st.text(), st.text(), st.lists(st.text(min_size=1)))
def test_it_takes_at_most_150_tokens(prompt: str, answer: str, action: str, files: list[str]) -> None:
    known = ENDED.replace(
        prompts=(Prompt(turn=1, at=0, text=prompt * 20),),
        recent=RecentWork(texts=said(answer * 50), edits=tuple((file, 1) for file in files)),
        pending_actions=(action * 20,),
        ran_in=f"/{answer}" * 30,
    )
    title, lines = last_session(known) or ("", [])
    assert estimate_tokens("\n".join([title, *lines])) <= MOST_TOKENS


def test_without_a_prompt_there_is_nothing_to_tell() -> None:
    assert last_session(RestoreInput(reason="clear", now=0)) is None
