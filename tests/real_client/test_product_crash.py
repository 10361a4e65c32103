"""A client that is killed in the middle of a turn takes nothing with it: the next one to start saves what is left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from .conversation import Conversation
from .installed import HALF_LINE, assert_archived, installed
from .messages import Request, bash, reply
from .scenario import ALLOW_BASH, Scenario
from .transcript import tool_results

RESTART = pytest.mark.parametrize("restart", ["same session", "another session", "fork"])


def wait_until(something: Callable[[], object], timeout: float = 10) -> None:
    """Until something is true, at most so many seconds."""
    deadline = time.monotonic() + timeout
    while not something():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def on_disk(scenario: Scenario, session_id: str, kind: str, words: str) -> bool:
    """Whether an entry of this kind with these words stands in the transcript."""
    files = scenario.config.glob(f"projects/*/{session_id}.jsonl")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return any(f'"type":"{kind}"' in line and words in line for line in lines)


def killed_while_the_model_answers(scenario: Scenario) -> str:
    """One whole turn, then a kill in the second; the session."""
    scenario.script("one", lambda _: time.sleep(30) or "too late")
    with Conversation(scenario) as client:
        client.ask("first")
        client.send("second")
        wait_until(lambda: on_disk(scenario, client.session_id, "user", "second"))
        client.kill()
    return client.session_id


def killed_while_a_tool_runs(scenario: Scenario) -> str:
    """A kill in a tool call of the first turn; the session."""
    scenario.script(reply("I wait.", bash("tail -f /dev/null")))
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.send("first")
        client.wait_for(lambda event: event["type"] == "assistant")
        wait_until(lambda: on_disk(scenario, client.session_id, "assistant", "tail -f"))
        client.kill()
    return client.session_id


def start_again(scenario: Scenario, session_id: str, restart: str) -> list[str]:
    """Start the client as told; the sessions to look at."""
    if restart == "another session":
        scenario.prompt("something else")
        return [session_id]
    run = scenario.prompt("go on", resume=session_id, fork=restart == "fork")
    return [session_id, run.session_id]


@RESTART
def test_killed_while_the_model_answers(scenario: Scenario, restart: str) -> None:
    product = installed(scenario)
    session_id = killed_while_the_model_answers(scenario)
    sessions = start_again(scenario, session_id, restart)
    assert ["second"] == [line["text"] for line in product.export(session_id) if line.get("text") == "second"]
    assert_archived(scenario, product, *sessions)


@RESTART
def test_killed_while_a_tool_runs(scenario: Scenario, restart: str) -> None:
    product = installed(scenario)
    session_id = killed_while_a_tool_runs(scenario)
    sessions = start_again(scenario, session_id, restart)
    (call,) = [line for line in product.export(session_id) if line["kind"] == "tool_call"]
    assert call["input"] == {"command": "tail -f /dev/null"}
    assert_archived(scenario, product, *sessions)


def test_killed_before_the_prompt_was_written(scenario: Scenario) -> None:
    product = installed(scenario)
    asked = threading.Event()

    def never_answered(_: Request) -> str:
        asked.set()
        time.sleep(30)
        return "too late"

    scenario.script("one", never_answered)
    with Conversation(scenario) as client:
        client.ask("first")
        client.send("second")
        assert asked.wait(10)
        client.kill()
    scenario.prompt("another session")

    assert [line["text"] for line in product.export(client.session_id)] == ["first", "one", "second"]


def test_a_half_line_that_a_crash_left_is_skipped(scenario: Scenario) -> None:
    product = installed(scenario)
    session_id = scenario.prompt("first").session_id
    with scenario.transcript_path(session_id).open("ab") as transcript:
        transcript.write(HALF_LINE)
    scenario.prompt("second", resume=session_id)
    scenario.prompt("third", resume=session_id)
    assert_archived(scenario, product, session_id)
