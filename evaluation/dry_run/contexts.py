"""The requests of each arm, and what two scripted agents answer to them.

An agent answers right exactly if every fact stands in its request. `reads` sees the summary and what the arm gives;
`looks up` also sees what `search` and `show` find, or grep in its arm. The prompt itself does not count, since a
question may name what it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.hindcast_baselines import last_steps, within
from benchmarks.hindcast_cases import Case
from benchmarks.transcripts import calls
from evaluation.arms import BARE, GREP, NATIVE, OURS, PLACEBO, TAIL, ablated, is_ours
from evaluation.dry_run.session import Told
from evaluation.dry_run.stories import Story
from evaluation.facts import held_in
from unified_state.lib.tokens import count_tokens

READS, LOOKS_UP = "reads", "looks up"
AGENTS = (READS, LOOKS_UP)
GREP_LINE = "The whole transcript of this session lies in /folder/transcript.jsonl. Grep it for what was said before."


@dataclass(frozen=True)
class Outcome:
    """What an agent of an arm answers to a story: the share of the facts in its request, and the tokens given."""

    story: str
    kind: str
    arm: str
    agent: str
    held: float
    tokens: int

    @property
    def answered(self) -> float:
        """1 if every fact stands there, else 0."""
        return float(self.held == 1)


def outcomes(stories: Sequence[Story], told: Sequence[Told], arms: Sequence[str]) -> list[Outcome]:
    """The outcomes of all stories, arms and agents, in this order."""
    found: list[Outcome] = []
    for number, story in enumerate(stories):
        ours = told[number]
        size = size_of(ours)
        placebo = placebo_of(stories, told, number)
        for arm in arms:
            given = placebo if arm == PLACEBO else _given(arm, story, ours, size)
            looked_up = ours.grepped if arm == GREP else ours.found if is_ours(arm) else ""
            for agent, text in ((READS, given), (LOOKS_UP, f"{given}\n{looked_up}")):
                parts = (story.works[-1].summary, text)  # not the prompt: a question may name what is asked for
                (tokens,) = count_tokens([text.strip()])
                found.append(Outcome(story.name, story.kind, arm, agent, held_in(parts, story.facts), tokens))
    return found


def size_of(told: Told) -> int:
    """The tokens that unified-state gives."""
    return count_tokens([_joined(_texts(told))])[0]


def placebo_of(stories: Sequence[Story], told: Sequence[Told], number: int) -> str:
    """As many tokens of what unified-state gives in another story."""
    return within([_joined(_texts(told[_other(stories, number)]))], size_of(told[number]))


def _given(arm: str, story: Story, ours: Told, size: int) -> str:
    """What an arm gives beside the summary."""
    makers: dict[str, Callable[[], str]] = {
        BARE: lambda: "",
        TAIL: lambda: within(last_steps(_case(story), size), size),
        NATIVE: lambda: noted(story),
        GREP: lambda: GREP_LINE,
        OURS: lambda: _joined(_texts(ours)),
    }
    return makers[arm]() if arm in makers else _joined(ablated(arm.removeprefix("no-"), *_texts(ours)))


def noted(story: Story) -> str:
    """What the sessions themselves wrote into CLAUDE.md or a memory folder; a model would decide what to note."""
    texts = []
    for work in story.works:
        for call in calls(work.entries):
            path = str(call.given.get("file_path", ""))
            if call.tool in {"Write", "Edit"} and (path.endswith("CLAUDE.md") or "/memory/" in path):
                texts.append(str(call.given.get("content") or call.given.get("new_string") or ""))
    return "\n".join(texts)


def _other(stories: Sequence[Story], number: int) -> int:
    """The next story that is about something else: another session, or another decision."""
    subject = _subject(stories[number])
    others = [*range(number + 1, len(stories)), *range(number)]
    return next((other for other in others if _subject(stories[other]) != subject), number)


def _subject(story: Story) -> str:
    """The session of a question; of a decision what its task is about: `boltons-dedupe-history-001` is of `dedupe`."""
    return story.name.partition("#")[0] if story.kind == "question" else story.module


def _texts(told: Told) -> tuple[str, str, str, str]:
    return told.brief, told.working_set, told.prompt, told.call


def _joined(texts: Sequence[str]) -> str:
    return "\n".join(filter(None, texts))


def _case(story: Story) -> Case:
    """The last work of a story as the baselines take it."""
    work = story.works[-1]
    return Case(work.name, 0, "", [], list(work.entries), work.summary)
