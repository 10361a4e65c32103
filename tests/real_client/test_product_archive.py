"""Nothing is lost: whatever happens to a conversation, the archive holds all of it, each thing once a session."""

from __future__ import annotations

import pytest

from .conversation import Conversation
from .installed import assert_archived, assert_healthy, installed, rows, spoken
from .messages import bash, reply, text, thinking
from .product import kept
from .scenario import ALLOW_BASH, Scenario
from .transcript import uuids


def test_prompts_texts_and_tools(scenario: Scenario) -> None:
    product = installed(scenario)
    calls = reply(thinking("hm"), "I look.", bash("echo one; echo two"), bash("echo wrong >&2; exit 3"))
    scenario.script(calls, "seen", reply("again", "and again"))
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.ask("first")
        client.ask([text("second"), text("with two parts")])
    assert_archived(scenario, product, client.session_id)


def test_the_last_word_of_a_client_that_keeps_no_transcript(scenario: Scenario) -> None:
    """The client ends its hooks with itself, and nothing else has that word."""
    product = installed(scenario)
    scenario.script("the last word")
    session = scenario.prompt("the first word", "--no-session-persistence").session_id
    scenario.prompt("another session, which catches up")
    assert [line["text"] for line in product.export(session)] == ["the first word", "the last word"]


def test_tool_calls_of_a_client_that_keeps_no_transcript(scenario: Scenario) -> None:
    """They are those that a transcript has. What the agent said before them is in no hook."""
    product = installed(scenario, "--tool-calls")
    calls = reply("I look.", bash("echo one; echo two"), bash("echo wrong >&2; exit 3"))
    scenario.script(calls, "the last word", calls, "the last word")
    sessions = (
        scenario.prompt("go", *ALLOW_BASH).session_id,
        scenario.prompt("go", *ALLOW_BASH, "--no-session-persistence").session_id,
    )
    scenario.prompt("another session, which catches up")
    named = ("kind", "text", "tool", "input", "result", "is_error")
    written, told = ([[line.get(name) for name in named] for line in product.export(session)] for session in sessions)
    assert [line for line in written if line[1] != "I look."] == told
    assert len(told) == 6
    assert_healthy(product)


def test_an_answer_that_came_before_the_prompt_was_written(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script("at once", "at once", "at once")
    with Conversation(scenario) as client:
        for prompt in ("one", "two", "three"):
            client.ask(prompt)
    assert_archived(scenario, product, client.session_id)
    said = [line["text"] for line in product.export(client.session_id)]
    assert said == ["one", "at once", "two", "at once", "three", "at once"]


@pytest.mark.parametrize("option", ["--resume", "--continue"])
def test_a_session_that_goes_on_in_another_process(scenario: Scenario, option: str) -> None:
    product = installed(scenario)
    scenario.script("one", reply(bash("echo again")), "two")
    session_id = scenario.prompt("first").session_id
    options = (option, session_id) if option == "--resume" else (option,)
    assert scenario.prompt("second", *options, *ALLOW_BASH).session_id == session_id
    assert_archived(scenario, product, session_id)


def test_a_fork_and_its_parent_show_what_they_share_and_it_is_stored_once(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(reply(bash("echo shared")), "one", "two", "three")
    parent = scenario.prompt("first", *ALLOW_BASH).session_id
    fork = scenario.prompt("on the side", resume=parent, fork=True).session_id
    scenario.prompt("straight on", resume=parent)
    assert_archived(scenario, product, parent, fork)

    shared = spoken(scenario, parent) & spoken(scenario, fork)
    assert len(shared) == 4
    assert shared <= kept(product.export(parent))
    assert shared <= kept(product.export(fork))
    assert rows(scenario, "SELECT count(*) FROM step WHERE body = 'shared'") == [(1,)]
    assert rows(scenario, "SELECT predecessor FROM session WHERE session_id = ?", fork) == [(parent,)]


def test_a_fork_of_a_compacted_session_is_the_child_of_its_parent(scenario: Scenario) -> None:
    product = installed(scenario)
    with Conversation(scenario) as client:
        for prompt in ("first", "second", "/compact"):
            client.ask(prompt)
    parent = client.session_id
    scenario.prompt("a later session")
    fork = scenario.prompt("third", resume=parent, fork=True).session_id
    assert set(uuids(scenario.transcript(parent))) & set(uuids(scenario.transcript(fork)))
    assert_archived(scenario, product, parent, fork)
    assert rows(scenario, "SELECT predecessor FROM session WHERE session_id = ?", fork) == [(parent,)]
    assert rows(scenario, "SELECT count(*) FROM compaction") == [(1,)]
