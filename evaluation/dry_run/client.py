"""One story an arm with the client itself, in a sandbox without a network, against a scripted API.

The client is told the story's prompts and the agent's texts; no tool runs but the edit at the end. At each compaction
the API answers with the real summary. It shows that the client brings to the model what the hooks give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.real_client import needed_client, temporary_scenario
from benchmarks.transcripts import blocks, strings
from evaluation.arm_setup import set_up
from evaluation.arms import NATIVE
from evaluation.dry_run.contexts import noted
from evaluation.dry_run.session import prompt_of
from evaluation.dry_run.stories import Story, Work
from evaluation.facts import held
from tests.real_client.conversation import Conversation
from tests.real_client.messages import reply, tool
from tests.real_client.scenario import Scenario

TURNS = 6  # of each piece of work: its last prompts, each with the agent's last text
EDITS = ("--allowedTools", "Edit", "Read")


def client_table(story: Story, arms: Sequence[str], tokens: int, placebo: str) -> str:
    """Play the story in each arm; a table of what stands in the request after the last prompt and its first edit."""
    client = needed_client()
    lines = [f"\nWith the client itself: {story.name}, {TURNS} turns before each compaction.\n"]
    lines += ["| arm | facts in the request | characters in it | compactions |", "| --- | --: | --: | --: |"]
    for arm in arms:
        with temporary_scenario(client) as scenario:
            set_up(scenario, arm, tokens, placebo)
            text = last_request(scenario, story, arm)
            compactions = len(scenario.api.of("compact"))
        lines.append(f"| {arm} | {held(text, story.facts):.3f} | {len(text):,} | {compactions} |")
    return "\n".join(lines)


def last_request(scenario: Scenario, story: Story, arm: str) -> str:
    """Play the story; the text of the conversation in the client's last request."""
    module = scenario.project / (story.module or "module.py")
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text("before = 1\n", encoding="utf-8")
    if arm == NATIVE:
        (scenario.project / "CLAUDE.md").write_text(noted(story), encoding="utf-8")
    with Conversation(scenario, *EDITS) as conversation:
        decided = list(_turns((said.role == "user", said.text) for said in story.decided))
        for number, work in enumerate(story.works):
            for prompt, answer in [*(decided if number == 0 else []), *_work_turns(work)]:
                scenario.script(answer)
                conversation.ask(prompt)
            scenario.api.script("compact", f"<summary>\n{work.summary}\n</summary>")
            conversation.ask("/compact")
        edit = tool("Edit", file_path=str(module), old_string="before", new_string="after")
        scenario.script(reply(tool("Read", file_path=str(module))), reply(edit), "done")
        conversation.ask(story.prompt)
    return "\n".join(text for _, text in scenario.api.of("main")[-1].texts())


def _work_turns(work: Work) -> list[tuple[str, str]]:
    said = []
    for entry in work.entries:
        if prompt := prompt_of(entry):
            said.append((True, prompt))
        elif entry.get("type") == "assistant":
            said += [(False, text) for block in blocks(entry) for text in strings(block.get("text"))]
    return [turn for turn in _turns(said) if not turn[0].startswith(("/", "<", "!"))][-TURNS:]


def _turns(said: Sequence[tuple[bool, str]] | Iterator[tuple[bool, str]]) -> Iterator[tuple[str, str]]:
    """The prompts, each with the last text of the agent before the next one."""
    prompt, answer = "", "ok"
    for is_prompt, text in said:
        if not is_prompt:
            answer = text.strip() or "ok"
            continue
        if prompt:
            yield prompt, answer
        prompt, answer = text, "ok"
    if prompt:
        yield prompt, answer
