"""`prune_messages` against conversations of all kinds, and an independent check of what the API asks of them."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.amount import examples
from tests.context.messages_api import Message, conversations, problems
from unified_state import prune_messages
from unified_state.context.prune_messages import CutText, message_tokens
from unified_state.errors import UsageError

OPTIONS = st.fixed_dictionaries(
    {
        "keep_turns": st.integers(1, 5),
        "start_tokens": st.sampled_from((0, 200, 2_000)),
        "characters": st.integers(0, 120),
    }
)
STEPS = st.sampled_from((1, 50, 500, 3_000))
PATIENT = examples(60, suppress_health_check=[HealthCheck.too_slow])
REF = re.compile(r"\n\[earlier context pruned: [\d,]+ characters, recall (S\d+)]$")


class Shelf:
    """Keeps texts in memory, as an archive does on disk."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def keep(self, texts: Sequence[CutText]) -> list[str]:
        for found in texts:
            if found.text not in self.texts:
                self.texts.append(found.text)
        return [f"S{self.texts.index(found.text)}" for found in texts]

    def recall(self, shown: str) -> str | None:
        """The whole of a text that was cut, by the ref in its marker."""
        marker = REF.search(shown)
        return self.texts[int(marker[1][1:])] if marker else None


def tokens(messages: list[Any]) -> int:
    return sum(map(message_tokens, messages))


def strings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Every string in a value, with the way to it; all that is not a string is part of the ways."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from strings(part, (*path, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from strings(part, (*path, number))
    else:
        yield (*path, repr(value)), ""


def turn_starts(messages: list[Message]) -> list[int]:
    return [position for position, message in enumerate(messages) if message["role"] == "user"]


def prompt(text: str) -> Message:
    return {"role": "user", "content": text}


def answer(text: str) -> Message:
    return {"role": "assistant", "content": text}


def dialogue(turns: int, text: str = "word " * 1_000) -> list[Message]:
    """Prompts with long answers, and one prompt more."""
    pairs = [(prompt(f"{number}: {text}"), answer(f"{number}. {text}")) for number in range(turns)]
    return [message for pair in pairs for message in pair] + [prompt("and now?")]


@PATIENT
@given(conversations(), OPTIONS, STEPS | st.none())
def test_what_is_pruned_is_valid_and_new_its_last_turns_are_whole_and_pruning_again_changes_nothing(
    messages: list[Message], options: dict[str, Any], step: int | None
) -> None:
    before = copy.deepcopy(messages)
    once = prune_messages(messages, Shelf().keep, **options, step_tokens=step)
    assert messages == before
    assert problems(once) == []
    kept = turn_starts(messages)[-options["keep_turns"] :][0]
    assert once[kept:] == messages[kept:]
    assert prune_messages(once, Shelf().keep, **options, step_tokens=step) == once


@PATIENT
@given(conversations(), OPTIONS, STEPS | st.none())
def test_every_text_that_was_cut_can_be_recalled_whole_and_nothing_else_changes(
    messages: list[Message], options: dict[str, Any], step: int | None
) -> None:
    shelf = Shelf()
    pruned = prune_messages(messages, shelf.keep, **options, step_tokens=step)
    whole, shown = list(strings(messages)), list(strings(pruned))
    assert [path for path, _ in whole] == [path for path, _ in shown]
    for (path, text), (_, kept) in zip(whole, shown, strict=True):
        if kept != text:
            assert shelf.recall(kept) == text
            assert len(kept) < len(text)
            assert path[-1] in {"text", "content"}


@PATIENT
@given(conversations(), OPTIONS, STEPS)
def test_in_steps_what_was_sent_stays_until_a_step_saves_enough_and_what_was_cut_for_good(
    messages: list[Message], options: dict[str, Any], step: int
) -> None:
    shelf, whole = Shelf(), dict(strings(messages))
    sent: list[Message] = []
    cut: dict[tuple[Any, ...], str] = {}
    for end in (start + 1 for start in turn_starts(messages)):
        request = prune_messages(messages[:end], shelf.keep, **options, step_tokens=step)
        if request[: len(sent)] != sent:
            assert tokens(sent) - tokens(request[: len(sent)]) >= step
        sent, shown = request, dict(strings(request))
        assert cut.items() <= shown.items()
        cut |= {path: text for path, text in shown.items() if text != whole[path]}


@PATIENT
@given(conversations(), OPTIONS, STEPS)
def test_in_steps_one_may_go_on_with_what_was_given(
    messages: list[Message], options: dict[str, Any], step: int
) -> None:
    shelf = Shelf()
    ends = [start + 1 for start in turn_starts(messages)]
    held: list[Message] = []
    for begin, end in zip([0, *ends], ends, strict=False):
        grown = [*held, *messages[begin:end]]
        held = prune_messages(grown, shelf.keep, **options, step_tokens=step)
        assert problems(held) == []
        if held != grown:
            assert tokens(grown) - tokens(held) >= step


def test_by_default_the_seeds_rule_holds() -> None:
    messages = dialogue(10)
    pruned = prune_messages(messages, Shelf().keep)
    start = turn_starts(messages)[-4]
    assert pruned[start:] == messages[start:]
    for message in pruned[:start]:
        head, marker = message["content"].rsplit("\n", 1)
        assert len(head) <= 80
        assert marker.startswith("[earlier context pruned")


def test_below_the_start_nothing_is_cut() -> None:
    messages = dialogue(7)  # about 20,000 tokens
    assert prune_messages(messages, Shelf().keep, start_tokens=tokens(messages)) == messages
    assert prune_messages(messages, Shelf().keep, start_tokens=tokens(messages) - 1) != messages


def test_all_three_of_the_rule_can_be_set() -> None:
    messages = dialogue(3)
    pruned = prune_messages(messages, Shelf().keep, keep_turns=2, start_tokens=100, characters=10)
    marks = [f"[earlier context pruned: 5,003 characters, recall S{number}]" for number in range(4)]
    assert pruned == [
        prompt(f"0: word w…\n{marks[0]}"),
        answer(f"0. word w…\n{marks[1]}"),
        prompt(f"1: word w…\n{marks[2]}"),
        answer(f"1. word w…\n{marks[3]}"),
        *messages[4:],
    ]


def test_a_tools_results_are_turns_so_that_a_long_run_on_one_prompt_is_pruned_but_for_the_prompt() -> None:
    messages = [prompt("Mend the parser. " * 100)]
    for number in range(30):
        messages += [
            {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "line\n" * 999}],
            },
        ]
    pruned = prune_messages(messages, Shelf().keep)
    assert pruned[0] is messages[0]
    assert pruned[-7:] == messages[-7:]
    assert tokens(pruned) < tokens(messages) / 5


def test_a_text_that_could_not_be_kept_stays_whole() -> None:
    messages = dialogue(10)
    assert prune_messages(messages, lambda texts: [""] * len(texts)) == messages


def test_what_is_cut_was_handed_over_before() -> None:
    def fail(_texts: Sequence[CutText]) -> list[str]:
        message = "no space left"
        raise OSError(message)

    with pytest.raises(OSError, match="no space left"):
        prune_messages(dialogue(10), fail)


def test_objects_of_the_apis_library_are_read_as_blocks_are() -> None:
    class TextBlock:
        type, citations = "text", None

        def __init__(self, text: str) -> None:
            self.text = text

        def model_dump(self) -> dict[str, Any]:
            return {"type": "text", "text": self.text}

    said = TextBlock("word " * 9_000)
    messages = dialogue(6, "short")
    messages[1] = {"role": "assistant", "content": [said]}
    messages[3] = {"role": "assistant", "content": [TextBlock("short")]}
    pruned = prune_messages(messages, Shelf().keep, start_tokens=5_000)
    assert pruned[1]["content"][0]["text"].startswith("word word")
    assert pruned[3] is messages[3]
    assert said.text == "word " * 9_000


@pytest.mark.parametrize(
    "content", [None, 7, [], [None, "x"], [{}], [{"type": "text"}], [{"type": "tool_result"}], {"a": 1}]
)
def test_what_has_another_shape_passes(content: object) -> None:
    messages: list[Any] = [{"role": "user", "content": content}, {"role": "x"}, None, *dialogue(10)]
    assert prune_messages(messages, Shelf().keep)[:3] == messages[:3]


@pytest.mark.parametrize(
    "options",
    [
        {"keep_turns": 0},
        {"start_tokens": -1},
        {"characters": -1},
        {"step_tokens": 0},
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        prune_messages(dialogue(1), Shelf().keep, **options)


@pytest.mark.parametrize("refs", [[], ["x" * 41], ["é"], ["a\nb"]])
def test_refs_that_cannot_stand_in_a_marker_are_refused(refs: list[str]) -> None:
    with pytest.raises(UsageError):
        prune_messages(dialogue(10), lambda texts: refs * len(texts))
