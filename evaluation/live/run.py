"""One run: a task in an arm, from the decision through the compactions to the bug and its tests."""

from __future__ import annotations

import queue
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.arm_setup import set_up
from evaluation.live.client_world import ClientWorld
from evaluation.live.grading import Grade, build, grade
from evaluation.live.measures import repeated, tokens
from evaluation.tasks import Task
from tests.real_client.conversation import Conversation

COMPACTED, RESUMED, CLEARED, HANDED_OVER = "compacted", "resumed", "cleared", "handed-over"
ENDINGS = (COMPACTED, RESUMED, CLEARED, HANDED_OVER)
MOST_CORRECTIONS = 5
FILES_A_ROUND = 3
_SECONDS = 900
_AGREED = "This is what we agreed about {module}. Change nothing yet, and answer only with OK.\n\n{talk}"
_FILLER = "Read {file} from its beginning to its end, and tell in three sentences what it is for. Change nothing."
_FAILED = "The reviewer ran more tests, and these fail. Fix the code, not the tests.\n\n{failures}"
Json = dict[str, Any]


class RefusedError(Exception):
    """The budget or the API refused a request; nothing of the run is kept but what it cost."""


@dataclass(frozen=True)
class Plan:
    """What a run does. `size` is what `tail` and `placebo` give, in tokens."""

    task: Task
    arm: str
    ending: str
    compactions: int
    size: int = 0
    placebo: str = ""

    @property
    def name(self) -> str:
        """The name of its folder of results."""
        return f"{self.task.name}--{self.arm}--{self.ending}"


def perform(plan: Plan, world: ClientWorld, host: Path | None, kept: Path) -> Json:
    """Perform a run, write what it leaves into the folder `kept`, and return its result. Raise RefusedError."""
    began = time.monotonic()
    build(world, plan.task, host)
    set_up(world, plan.arm, plan.size, plan.placebo)
    corrections, graded = _converse(plan, world)
    relay = world.api
    lines = [line for path in world.transcripts() for line in path.read_text(encoding="utf-8").splitlines()]
    for path in world.transcripts():
        shutil.copy(path, kept / path.name)
    (kept / "patch.diff").write_text(graded.patch, encoding="utf-8")
    return {
        "task": plan.task.name,
        "arm": plan.arm,
        "ending": plan.ending,
        "solved": graded.solved,
        "solved_at_once": graded.solved and corrections == 0,
        "rules_broken": len(graded.broken),
        "corrections": corrections,
        **repeated(lines),
        "requests": len(relay.usages),
        "tokens": tokens(relay.usages),
        "dollars": relay.dollars,
        "minutes": (time.monotonic() - began) / 60,
    }


def _converse(plan: Plan, world: ClientWorld) -> tuple[int, Grade]:
    """The conversation; the corrections that it needed, and the last grade."""
    talk = Talk(world)
    try:
        _before_the_bug(plan, talk, world)
        talk.end_as(plan.ending)
        talk.ask(f"{plan.task.bug_report}\n\nThe code is in {plan.task.module}.")
        for corrections in range(MOST_CORRECTIONS + 1):
            graded = grade(world, plan.task)
            if graded.solved or corrections == MOST_CORRECTIONS:
                break
            talk.ask(_FAILED.format(failures=graded.failures))
    finally:
        talk.close()
    return corrections, graded


def _before_the_bug(plan: Plan, talk: Talk, world: ClientWorld) -> None:
    """The rules, the decision, and work until so many compactions."""
    rules = "\n".join(f"- {rule}" for rule in plan.task.rules)
    said = [f"Rules for all that you do here:\n{rules}\n"] if rules else []
    agreed = "\n\n".join(f"{message.role}: {message.text}" for message in plan.task.decided)
    talk.ask("\n".join([*said, _AGREED.format(module=plan.task.module, talk=agreed)]))
    files = _files(plan, world)
    for _ in range(plan.compactions):
        before = talk.compactions()
        for _ in range(FILES_A_ROUND):
            talk.ask(next(files))
        while world.window and talk.compactions() == before:
            talk.ask(next(files))
        if not world.window:
            talk.ask("/compact")


def _files(plan: Plan, world: ClientWorld) -> Iterator[str]:
    """Prompts that fill the context: those of the task, or to read one file after the other, round and round."""
    given = [str(prompt) for prompt in plan.task.details.get("filler", [])]
    paths = sorted(path.relative_to(world.project) for path in world.project.rglob("*.py"))
    prompts = given or [_FILLER.format(file=path) for path in paths if str(path) != plan.task.module]
    while True:
        yield from prompts


class Talk:
    """The sessions of a run, one after the other."""

    def __init__(self, world: ClientWorld) -> None:
        self._world, self._relay = world, world.api
        self._conversation = Conversation(world)
        self._earlier = 0

    def ask(self, prompt: str) -> None:
        """Say something and wait for the end of the turn. Raise RefusedError if a request was refused."""
        try:
            events = self._conversation.ask(prompt, _SECONDS)
        except (EOFError, BrokenPipeError, queue.Empty) as error:
            message = self._relay.refusal or f"the client did not answer: {error!r}"
            raise RefusedError(message) from error
        result = events[-1]
        if self._relay.refusal and (result.get("is_error") or "budget" in self._relay.refusal):
            raise RefusedError(self._relay.refusal)
        if result.get("is_error"):
            message = f"the client reports an error: {str(result.get('result'))[:300]}"
            raise RefusedError(message)
        self._relay.refusal = None  # the client tried again, and went on

    def compactions(self) -> int:
        """How many compactions there were so far."""
        here = sum(event.get("subtype") == "compact_boundary" for event in self._conversation.events)
        return self._earlier + int(here)

    def end_as(self, ending: str) -> None:
        """End the session as the run is to go on."""
        if ending == CLEARED:
            self.ask("/clear")
        elif ending in {RESUMED, HANDED_OVER}:
            session, self._earlier = self._conversation.session_id, self.compactions()
            self.close()
            self._conversation = Conversation(self._world, *(("--resume", session) if ending == RESUMED else ()))

    def close(self) -> None:
        """End the client."""
        with suppress(Exception):  # it may be gone already, and what it left is in the files
            self._conversation.__exit__(None, None, None)
