"""Clients that are killed in the middle of a turn; each function gives the session that this leaves behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from .conversation import Conversation
from .messages import Request, bash, reply
from .scenario import ALLOW_BASH, Scenario


def killed_while_the_model_answers(scenario: Scenario) -> str:
    """One whole turn, then a kill in the second, when its prompt stands in the transcript."""
    killed = threading.Event()
    scenario.script("one", lambda _: _answer_after(killed))
    with Conversation(scenario) as client:
        client.ask("first")
        client.send("second")
        wait_until(lambda: _on_disk(scenario, client.session_id, "user", "second"))
        client.kill()
        killed.set()
    return client.session_id


def killed_before_the_prompt_was_written(scenario: Scenario, between: Callable[[], None] = lambda: None) -> str:
    """One whole turn, then a kill in the second, as soon as the model was asked: the transcript is written later.
    `between` runs between the turns.
    """
    asked, killed = threading.Event(), threading.Event()

    def never_answered(_: Request) -> str:
        asked.set()
        return _answer_after(killed)

    scenario.script("one", never_answered)
    with Conversation(scenario) as client:
        client.ask("first")
        between()
        client.send("second")
        assert asked.wait(10)
        client.kill()
        killed.set()
    return client.session_id


def killed_while_a_tool_runs(scenario: Scenario) -> str:
    """A kill in the first turn, when the call of a tool stands in the transcript."""
    scenario.script(reply("I wait.", bash("tail -f /dev/null")))
    with Conversation(scenario, *ALLOW_BASH) as client:
        client.send("first")
        client.wait_for(lambda event: event["type"] == "assistant")
        wait_until(lambda: _on_disk(scenario, client.session_id, "assistant", "tail -f"))
        client.kill()
    return client.session_id


def wait_until(something: Callable[[], object], timeout: float = 10) -> None:
    """Until something is true, at most so many seconds."""
    deadline = time.monotonic() + timeout
    while not something():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def _answer_after(killed: threading.Event) -> str:
    killed.wait(30)
    return "too late"


def _on_disk(scenario: Scenario, session_id: str, kind: str, words: str) -> bool:
    """Whether an entry of this kind with these words stands in the transcript."""
    files = scenario.config.glob(f"projects/*/{session_id}.jsonl")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return any(f'"type":"{kind}"' in line and words in line for line in lines)
