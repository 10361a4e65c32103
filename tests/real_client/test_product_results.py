"""What lies beside the conversation is archived too: big results in files, messages sent while the agent works."""

from __future__ import annotations

import pytest

from .installed import assert_archived, installed
from .messages import bash, reply
from .scenario import ALLOW_BASH, Scenario
from .terminal import Terminal

NUMBERS = "".join(f"{number}\n" for number in range(100_000, 108_571))  # 60 kB: the client puts it into a file


def test_a_big_result_is_archived_whole_and_outlives_its_file(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(reply(bash("seq 100000 108570")), "seen")
    session_id = scenario.prompt("first", *ALLOW_BASH).session_id
    assert_archived(scenario, product, session_id)

    (file,) = (scenario.transcript_path(session_id).with_suffix("") / "tool-results").iterdir()
    file.unlink()
    scenario.prompt("second", resume=session_id)
    files = [line for line in product.export(session_id) if line["kind"] == "tool_file"]
    assert [line["result"] for line in files] == [NUMBERS]


@pytest.mark.usefixtures("tmux")
def test_what_a_person_types_into_a_running_turn_and_into_the_shell(scenario: Scenario) -> None:
    product = installed(scenario)
    scenario.script(
        reply(bash("python3 -c 'import time; time.sleep(2)'")), reply(bash("echo")), "answer one", "answer two"
    )
    with Terminal(scenario, *ALLOW_BASH) as terminal:
        terminal.enter("first")
        terminal.wait_for("Running|sleep")
        terminal.enter("by the way")
        terminal.wait_for("answer one")
        terminal.press("!")
        terminal.enter("echo from the shell")
        terminal.wait_for("answer two")
        terminal.leave()
    (transcript,) = scenario.config.glob("projects/*/*.jsonl")
    assert_archived(scenario, product, transcript.stem)
    prompts = [line["text"] for line in product.export(transcript.stem) if line["kind"] == "prompt"]
    assert prompts == ["first", "by the way", "<bash-input>echo from the shell</bash-input>"]
