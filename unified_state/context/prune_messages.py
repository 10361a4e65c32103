"""Prune a conversation of the Messages API: cut old texts to their beginning and a marker with a ref.

Invariants: `keep` receives every whole text before it is cut. No block is added, dropped or moved, so every call keeps
its result. Only plain `text` blocks and tool results change. Thinking, calls, images, documents and cited text stay
unchanged. The cut depends only on the beginning of the conversation. So with `step_tokens` the part that was already
sent stays unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, compress
from typing import Any, TypeVar

from unified_state.errors import UsageError
from unified_state.lib.record import Record
from unified_state.lib.text import cut, estimate_tokens

Change = Callable[["CutText"], str]
Message = TypeVar("Message", bound=Mapping[str, Any])
Keep = Callable[[Sequence["CutText"]], Sequence[str]]

USER, ASSISTANT, TOOL = "user", "assistant", "tool"
_MESSAGE_TOKENS = 4  # for its role and frame
_MEDIUM_TOKENS = 1_600  # an image at the API's scaled size; an estimate for a document
_WEIGHTLESS = {"type", "cache_control", "signature"}


class CutText(Record):
    """A text that may be cut. `said_by` is user, assistant or tool. A tool's output names its call."""

    text: str
    said_by: str
    tool_use_id: str | None = None


def map_texts(message: Any, change: Change) -> Any:
    """Return the message with `change` applied to each text that may be cut, or the same object if nothing changes."""
    role = field(message, "role")
    if role not in {USER, ASSISTANT} or not isinstance(message, Mapping):
        return message
    content = message.get("content")
    changed = _content(content, lambda text: change(CutText(text, role)), lambda block: _tool_result(block, change))
    return message if changed is content else {**message, "content": changed}


def answers_a_call(message: Any) -> bool:
    """Return whether a message contains a tool's result."""
    content = field(message, "content")
    return isinstance(content, list | tuple) and any(field(block, "type") == "tool_result" for block in content)


def message_tokens(message: Any) -> int:
    """Return an estimate of the tokens of a message, which is rather too high than too low."""
    tokens, left = _MESSAGE_TOKENS, [field(message, "content")]
    while left:
        value = left.pop()
        if isinstance(value, str):
            tokens += estimate_tokens(value)
        elif isinstance(value, Mapping):
            if value.get("type") == "base64":
                tokens += _MEDIUM_TOKENS
            else:
                left += [part for name, part in value.items() if name not in _WEIGHTLESS]
        elif isinstance(value, list | tuple):
            left += value
        elif hasattr(value, "model_dump"):
            left.append(vars(value))
    return tokens


def field(value: Any, name: str) -> Any:
    """Return a field of a message or block, which may be an object of the API's library."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _content(content: Any, change: Callable[[str], str], other: Callable[[Any], Any]) -> Any:
    if isinstance(content, str):
        return change(content)
    if not isinstance(content, list | tuple):
        return content
    blocks = [_text_block(block, change) if field(block, "type") == "text" else other(block) for block in content]
    return content if all(new is old for new, old in zip(blocks, content, strict=True)) else blocks


def _text_block(block: Any, change: Callable[[str], str]) -> Any:
    text = field(block, "text")
    if not isinstance(text, str) or field(block, "citations"):
        return block
    changed = change(text)
    if changed is text:
        return block
    return {**block, "text": changed} if isinstance(block, Mapping) else {"type": "text", "text": changed}


def _tool_result(block: Any, change: Change) -> Any:
    if field(block, "type") != "tool_result" or not isinstance(block, Mapping):
        return block
    content, call = block.get("content"), block.get("tool_use_id")
    changed = _content(content, lambda text: change(CutText(text, TOOL, call)), lambda part: part)
    return block if changed is content else {**block, "content": changed}


KEEP_TURNS, START_TOKENS, CHARACTERS = 4, 20_000, 80  # defaults of the seed system
_MARKER = "[earlier context pruned: {characters} characters, recall {ref}]"
_LONGEST_REF, _LONGEST_COUNT = "x" * 40, "x" * 15


def prune_messages(
    messages: Sequence[Message],
    keep: Keep,
    *,
    keep_turns: int = KEEP_TURNS,
    start_tokens: int = START_TOKENS,
    characters: int = CHARACTERS,
    step_tokens: int | None = None,
) -> list[Message]:
    """Return the messages with old texts cut, if they have more than `start_tokens` tokens. The given list does not
    change.

    Texts of the user, the assistant and tools keep their first `characters` characters, followed by a marker. The
    last `keep_turns` turns stay whole, and so do the prompt that is being answered and the last answer. A turn is a
    user message (or a message with a tool's results) and its answer. Blocks other than text never change.

    `keep` receives the texts before they are cut and returns a ref of at most 40 characters for each.
    `MessageArchive.keep` archives them, so that `recall` returns them. A text with an empty ref stays whole.

    Without `step_tokens` the cut moves with every turn, with it only when that saves this many tokens. Call it with the
    whole list, or with its last result and the new messages, each time with the same options.
    """
    _check(keep_turns, start_tokens, characters, step_tokens)
    form = _Form(characters)
    weights = [form.weigh(message) for message in messages]
    cuts = list(_possible_cuts(messages, keep_turns))
    if step_tokens:
        chosen = _in_steps(weights, cuts, start_tokens, step_tokens)
    else:
        chosen = cuts[-1] if sum(weight.tokens for weight in weights) > start_tokens else _Cut()
    old = list(map(chosen.takes, range(len(messages))))
    refs = iter(_refs([found for message in compress(messages, old) for found in form.long_texts(message)], keep))
    return [form.prune(message, refs) if is_old else message for message, is_old in zip(messages, old, strict=True)]


class _Weight(Record):
    """The tokens of a message, and the tokens that its cut saves."""

    tokens: int
    saving: int


class _Cut(Record):
    """The messages that are cut: those before a position, except the prompt that is being answered."""

    before: int = 0
    prompt: int = -1

    def takes(self, position: int) -> bool:
        """Return whether the message at a position is cut."""
        return position < self.before and position != self.prompt


class _Form:
    """The form of a cut text. Only a text longer than every such form is cut, so no text is cut twice."""

    def __init__(self, characters: int) -> None:
        self._characters = characters
        self._longest = characters + 1 + len(_MARKER.format(ref=_LONGEST_REF, characters=_LONGEST_COUNT))

    def weigh(self, message: Any) -> _Weight:
        """Return the tokens of a message, and the tokens that its cut saves with any refs."""
        texts = [found.text for found in self.long_texts(message)]
        savings = [estimate_tokens(text) - estimate_tokens(self._of(text, _LONGEST_REF)) for text in texts]
        return _Weight(message_tokens(message), sum(max(0, saving) for saving in savings))

    def long_texts(self, message: Any) -> list[CutText]:
        """Return the texts of a message that are long enough to be cut."""
        found: list[CutText] = []

        def collect(text: CutText) -> str:
            if self._is_long(text.text):
                found.append(text)
            return text.text

        map_texts(message, collect)
        return found

    def prune(self, message: Any, refs: Iterator[str]) -> Any:
        """Return the message with its long texts cut, each with the next ref. A text with an empty ref stays whole."""

        def shorten(text: CutText) -> str:
            ref = next(refs) if self._is_long(text.text) else ""
            return self._of(text.text, ref) if ref else text.text

        return map_texts(message, shorten)

    def _is_long(self, text: str) -> bool:
        return len(text) > self._longest

    def _of(self, text: str, ref: str) -> str:
        return f"{cut(text.strip(), self._characters)}\n{_MARKER.format(ref=ref, characters=f'{len(text):,}')}"


def _check(keep_turns: int, start_tokens: int, characters: int, step_tokens: int | None) -> None:
    least = {"keep_turns": (keep_turns, 1), "start_tokens": (start_tokens, 0), "characters": (characters, 0)}
    if step_tokens is not None:
        least["step_tokens"] = (step_tokens, 1)
    for name, (value, at_least) in least.items():
        if value < at_least:
            message = f"{name} is {value}"
            raise UsageError(message, f"it is at least {at_least}")


def _possible_cuts(messages: Sequence[Any], keep_turns: int) -> Iterator[_Cut]:
    """Yield, after each message, the cut that leaves the last turns whole. It only moves forward."""
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


def _in_steps(weights: Sequence[_Weight], cuts: Sequence[_Cut], start_tokens: int, step_tokens: int) -> _Cut:
    """Return the cut that results from pruning after each message in turn."""
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


def _refs(texts: Sequence[CutText], keep: Keep) -> list[str]:
    if not texts:
        return []
    refs = list(keep(texts))
    if len(refs) != len(texts):
        message = f"`keep` was given {len(texts)} texts and gave {len(refs)} refs"
        raise UsageError(message, "it gives one for each, in their order")
    for ref in refs:
        if len(ref) > len(_LONGEST_REF) or not (ref.isascii() and ref.isprintable()):
            message = f"`keep` gave the ref {ref[:60]!r}"
            raise UsageError(message, f"a ref is at most {len(_LONGEST_REF)} printable ASCII characters")
    return refs
