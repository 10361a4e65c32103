"""Pruning: old texts of a Messages-API conversation are cut to their beginning and a marker that says how to get them
back.

Invariants: what is cut was handed over first, whole, to who keeps it; no block is added, dropped or moved, so that
every call keeps its result; and what is decided for a conversation depends on its beginning alone, so that in steps the
part that was sent before stays as it was sent.
"""

from __future__ import annotations

from itertools import accumulate, compress

from unified_state.context.messages.rules.message_texts import (
    ASSISTANT,
    USER,
    CutText,
    answers_a_call,
    field,
    map_texts,
    message_tokens,
)
from unified_state.errors import UsageError
from unified_state.lib.record import Record
from unified_state.lib.text import cut, estimate_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    Message = TypeVar("Message", bound=Mapping[str, Any])
    Keep = Callable[[Sequence[CutText]], Sequence[str]]

KEEP_TURNS, START_TOKENS, CHARACTERS = 4, 20_000, 80  # the seed's
MARKER = "[earlier context pruned: {characters} characters, recall {ref}]"
LONGEST_REF = 40
_REF, _COUNT = "{ref}", "{characters}"
_LONGEST_COUNT = 15
_HASH_DIGITS = 16


def prune_messages(
    messages: Sequence[Message],
    keep: Keep | None,
    *,
    keep_turns: int = KEEP_TURNS,
    start_tokens: int = START_TOKENS,
    characters: int = CHARACTERS,
    marker: str = MARKER,
    step_tokens: int | None = None,
) -> list[Message]:
    """The messages with their old texts cut, once they have more than `start_tokens` tokens; the list that is given
    stays as it is.

    Texts of the user, the assistant and tools keep their first `characters` characters and get the `marker`. The last
    `keep_turns` turns stay whole, and so do the prompt that is being answered and the last answer; a turn is a user
    message, also one with a tool's results, and its answer. Blocks that are more than text are never touched.

    `keep` is given the texts before they are cut, and gives a ref for each, at most 40 characters:
    `MessageArchive.keep` archives them, so that `recall` gives them back. A text for which it gives an empty ref stays
    whole. None says that you keep the messages yourself: the refs are then the first 16 digits of each text's SHA-256.

    Without `step_tokens` the cut moves with every turn, and all behind it is new to the prompt cache each time. With it
    the cut stays where it is until moving it saves so many tokens: in between, what was sent is never changed. Call it
    with the whole list or with what it gave and what came since, each time with the same options.
    """
    _check(keep_turns, start_tokens, characters, marker, step_tokens)
    form = _Form(characters, marker)
    weights = [form.weigh(message) for message in messages]
    cuts = list(_possible_cuts(messages, keep_turns))
    chosen = (
        _in_steps(weights, cuts, start_tokens, step_tokens) if step_tokens else _at_once(weights, cuts, start_tokens)
    )
    old = list(map(chosen.takes, range(len(messages))))
    refs = iter(_refs([found for message in compress(messages, old) for found in form.long_texts(message)], keep))
    return [form.prune(message, refs) if is_old else message for message, is_old in zip(messages, old, strict=True)]


class _Weight(Record):
    """The tokens of a message, and how many fewer it has when it is cut."""

    tokens: int
    saving: int


class _Cut(Record):
    """Which messages are cut: those before a position, but for the prompt that is being answered."""

    before: int = 0
    prompt: int = -1

    def takes(self, position: int) -> bool:
        """Whether the message at a position is cut."""
        return position < self.before and position != self.prompt


class _Form:
    """How a cut text looks. A text is cut only if it is longer than any such form: what was cut is never cut again."""

    def __init__(self, characters: int, marker: str) -> None:
        self._characters = characters
        self._marker = marker
        self._longest = characters + 1 + len(self._marked("x" * LONGEST_REF, "x" * _LONGEST_COUNT))

    def weigh(self, message: Any) -> _Weight:
        """The tokens of a message, and how many fewer they are when it is cut, whatever the refs."""
        texts = [found.text for found in self.long_texts(message)]
        savings = [estimate_tokens(text) - estimate_tokens(self._of(text, "x" * LONGEST_REF)) for text in texts]
        return _Weight(message_tokens(message), sum(max(0, saving) for saving in savings))

    def long_texts(self, message: Any) -> list[CutText]:
        """The texts of a message that are worth cutting."""
        found: list[CutText] = []

        def collect(text: CutText) -> str:
            if self._is_long(text.text):
                found.append(text)
            return text.text

        map_texts(message, collect)
        return found

    def prune(self, message: Any, refs: Iterator[str]) -> Any:
        """The message with its long texts cut, each with the next ref; one whose ref is empty was not kept, and
        stays.
        """

        def shorten(text: CutText) -> str:
            ref = next(refs) if self._is_long(text.text) else ""
            return self._of(text.text, ref) if ref else text.text

        return map_texts(message, shorten)

    def _is_long(self, text: str) -> bool:
        return len(text) > self._longest

    def _of(self, text: str, ref: str) -> str:
        return f"{cut(text.strip(), self._characters)}\n{self._marked(ref, f'{len(text):,}')}"

    def _marked(self, ref: str, count: str) -> str:
        return self._marker.replace(_COUNT, count).replace(_REF, ref)


def _check(keep_turns: int, start_tokens: int, characters: int, marker: str, step_tokens: int | None) -> None:
    least = {"keep_turns": (keep_turns, 1), "start_tokens": (start_tokens, 0), "characters": (characters, 0)}
    if step_tokens is not None:
        least["step_tokens"] = (step_tokens, 1)
    for name, (value, at_least) in least.items():
        if value < at_least:
            message = f"{name} is {value}"
            raise UsageError(message, f"it is at least {at_least}")
    if _REF not in marker:
        message = f"the marker {marker[:60]!r} has no {_REF}"
        raise UsageError(message, "a marker says under which ref the text can be had again")


def _possible_cuts(messages: Sequence[Any], keep_turns: int) -> Iterator[_Cut]:
    """After each message, the cut that leaves the last turns whole. It only ever moves forward."""
    turns: list[int] = []
    answer, prompt, before = 0, -1, None
    for position, message in enumerate(messages):
        role = field(message, "role")
        if role == USER:
            if before != USER:
                turns.append(position)
            if not answers_a_call(message):
                prompt = position
        elif role == ASSISTANT:
            answer = position
        before = role
        yield _Cut(min(turns[-keep_turns], answer) if len(turns) > keep_turns else 0, prompt)


def _at_once(weights: Sequence[_Weight], cuts: Sequence[_Cut], start_tokens: int) -> _Cut:
    return cuts[-1] if sum(weight.tokens for weight in weights) > start_tokens else _Cut()


def _in_steps(weights: Sequence[_Weight], cuts: Sequence[_Cut], start_tokens: int, step_tokens: int) -> _Cut:
    """The cut as it stands after all messages, had somebody asked after each."""
    tokens = list(accumulate(weight.tokens for weight in weights))
    savings = list(accumulate((weight.saving for weight in weights), initial=0))

    def saved(by: _Cut) -> int:
        spared = weights[by.prompt].saving if 0 <= by.prompt < by.before else 0
        return savings[by.before] - spared

    now = _Cut()
    for total, possible in zip(tokens, cuts, strict=True):
        if total - saved(now) > start_tokens and saved(possible) - saved(now) >= step_tokens:
            now = possible
    return now


def _refs(texts: Sequence[CutText], keep: Keep | None) -> list[str]:
    if not texts:
        return []
    refs = [_content_hash(found.text) for found in texts] if keep is None else list(keep(texts))
    if len(refs) != len(texts):
        message = f"`keep` was given {len(texts)} texts and gave {len(refs)} refs"
        raise UsageError(message, "it gives one for each, in their order")
    for ref in refs:
        if len(ref) > LONGEST_REF or not (ref.isascii() and ref.isprintable()):
            message = f"`keep` gave the ref {ref[:60]!r}"
            raise UsageError(message, f"a ref is at most {LONGEST_REF} printable ASCII characters")
    return refs


def _content_hash(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
