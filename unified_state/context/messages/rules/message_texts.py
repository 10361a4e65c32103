"""The texts of a Messages-API conversation: which of them may be cut, and about how many tokens all of it has.

Invariant: only what is nothing but text is ever changed: `text` blocks and tool results. What the API checks, or knows
by more than its words, passes as it is: thinking with its signature, calls, server tools, images, documents, cited
text.
"""

from __future__ import annotations

from collections.abc import Mapping

from unified_state.lib.record import Record
from unified_state.lib.text import estimate_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Change = Callable[["CutText"], str]

USER, ASSISTANT, TOOL = "user", "assistant", "tool"
_MESSAGE_TOKENS = 4  # its role and its frame
_MEDIUM_TOKENS = 1_600  # an image at the size that the API scales it to; of a document it is a guess
_WEIGHTLESS = {"type", "cache_control", "signature"}


class CutText(Record):
    """A text that may be cut. `said_by` is user, assistant or tool; a tool's output names the call it answers."""

    text: str
    said_by: str
    tool_use_id: str | None = None


def map_texts(message: Any, change: Change) -> Any:
    """The message with each text that may be cut as `change` gives it; the same object if nothing changes."""
    role = field(message, "role")
    if role not in {USER, ASSISTANT} or not isinstance(message, Mapping):
        return message
    content = message.get("content")
    changed = _content(content, lambda text: change(CutText(text, role)), lambda block: _tool_result(block, change))
    return message if changed is content else {**message, "content": changed}


def answers_a_call(message: Any) -> bool:
    """Whether a message holds a tool's result."""
    content = field(message, "content")
    return isinstance(content, list | tuple) and any(field(block, "type") == "tool_result" for block in content)


def message_tokens(message: Any) -> int:
    """About the number of tokens of a message, rather too many than too few."""
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
    """A field of a message or block, which may be an object of the API's own library."""
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
