"""The fence around recorded text in a conversation, and the function that makes recorded text safe to show.

Recorded text comes from files, web pages and other programs. `visible` is the one way of such a text to a model or a
terminal. It shows a character that hides or reorders text as `<U+202E>`, and takes the bracket from a tag that a client
or a model could obey. Text in any script, emoji and code stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable

from unified_state.lib.text import is_cjk

Ranges = tuple[tuple[str, str], ...]

TAG = "unified-state-memory"
_CLOSING = f"</{TAG} nonce="


def fenced(body: str, nonce: str, about: str) -> str:
    """Return the visible body between an opening and a closing line with the nonce. `about` describes it in a few
    words.
    """
    return f'<{TAG} nonce={nonce} about="{about}">\n{visible(body)}\n{_CLOSING}{nonce}>'


def nonces_in(text: str) -> tuple[str, ...]:
    """Return the nonces of the fences that close in a text."""
    endings = (part[:64].split(">", 1)[0] for part in text.split(_CLOSING)[1:])
    return tuple(nonce for nonce in endings if nonce.isalnum())


def visible(text: str) -> str:
    """Return the text with hidden characters as `<U+202E>`, and a single angle quotation mark as the bracket of each
    control tag. Newlines and tabs stay. The result of a result is the same text.
    """
    return _tamed(_spelled(text, "<U+{:04X}>".format), lambda _bracket: "\u2039")


def visible_json(text: str) -> str:
    """Return a JSON text with the same characters and tags escaped, so that its value stays the same."""
    return _tamed(_spelled(text, _json_escape), lambda bracket: _json_escape(ord(bracket)))


def visible_values(text: str) -> str:
    """Return a JSON text whose values are visible, controls too that JSON itself escapes."""
    if "\\u00" in text or "\\b" in text or "\\f" in text:
        text = text.replace("\\\\", "\0")  # so that no escaped backslash begins an escape
        for code in range(0x20):
            text = text.replace(f"\\u{code:04x}", f"<U+{code:04X}>")
        text = text.replace("\\b", "<U+0008>").replace("\\f", "<U+000C>").replace("\0", "\\\\")
    return visible(text)


# Controls, soft hyphen, zero-width and bidirectional characters, fillers, separators, selectors and annotations.
_RANGES = (
    (0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160),
    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF9, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
)  # fmt: skip
_HIDDEN = frozenset(chr(code) for first, last in _RANGES for code in range(first, last + 1))
_TAGS_PLANE = ("\U000e0000", "\U000e0fff")  # tag characters, further selectors, and what is reserved for their like
_SPACE, _NON_JOINER, _JOINER = "\u200b", "\u200c", "\u200d"
_TEXT_FORM, _EMOJI_FORM, _KEYCAP = "\ufe0e", "\ufe0f", "\u20e3"
# Scripts whose spelling needs joiners: Arabic to Myanmar, Khmer and Mongolian, Javanese and others, Arabic forms.
_JOINING = (("\u0600", "\u109f"), ("\u1780", "\u18af"), ("\ua840", "\uabff"), ("\ufb50", "\ufdff"))
_UNSPACED = (("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"))  # Thai, Lao, Burmese, Khmer
_EMOJI = (("\u2100", "\u2bff"), ("\u203c", "\u2049"), ("\U0001f000", "\U0001faff"), ("\xa9", "\xae"))
_SCRIPTS = {_SPACE: _UNSPACED, _NON_JOINER: _JOINING, _JOINER: _JOINING}
# Selectors of a variant, and what they may follow beside ideographs: emoji and Mongolian letters.
_SELECTORS = (("\u180b", "\u180f"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
_SELECTED = (*_EMOJI, ("\u1820", "\u18aa"))
_FLAG = "\U0001f3f4"
_FLAGS = tuple(  # England, Scotland, Wales: the only flags that are spelled with tag characters
    _FLAG + "".join(chr(0xE0000 + ord(letter)) for letter in name) + "\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
)


def _spelled(text: str, form: Callable[[int], str]) -> str:
    """Return the text with `form` of the code of each hidden character that has no use where it is."""
    if _HIDDEN.isdisjoint(text) and (text.isascii() or max(text) < _TAGS_PLANE[0]):
        return text
    pieces: list[str] = []
    begin = 0
    for at, character in enumerate(text):
        if _is_hidden(character) and not _has_use(text, at):
            pieces += text[begin:at], form(ord(character))
            begin = at + 1
    return "".join([*pieces, text[begin:]])


def _is_hidden(character: str) -> bool:
    return character in _HIDDEN or _TAGS_PLANE[0] <= character <= _TAGS_PLANE[1]


def _has_use(text: str, at: int) -> bool:
    """Return whether the hidden character belongs to a line end, an emoji, or a word of a script that needs it."""
    character, before, after = text[at], text[max(0, at - 1) : at], text[at + 1 : at + 2]
    if character == "\r":
        return after == "\n"
    if character in _SCRIPTS and _is_in(before, _SCRIPTS[character]) and _is_in(after, _SCRIPTS[character]):
        return True
    if character == _JOINER:
        drawn = text[max(0, at - 2) : at - 1] if before in (_TEXT_FORM, _EMOJI_FORM) else before
        return _is_in(drawn, _EMOJI) and _is_in(after, _EMOJI)
    if _is_in_range(character, _SELECTORS):
        return (
            after == _KEYCAP
            or _is_in(before, _SELECTED)
            or (before != "" and is_cjk(before) and not _is_hidden(before))
        )
    begin = text.rfind(_FLAG, max(0, at - len(_FLAGS[0])), at)
    return begin >= 0 and text.startswith(_FLAGS, begin) and at < begin + len(_FLAGS[0])


def _is_in(character: str, ranges: Ranges) -> bool:
    return _is_in_range(character, ranges) and not _is_hidden(character)


def _is_in_range(character: str, ranges: Ranges) -> bool:
    return any(first <= character <= last for first, last in ranges)


def _json_escape(code: int) -> str:
    units = chr(code).encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


_BRACKETS = "<\uff1c\ufe64"
_BLANK = " \t\r\n\f\v\xa0\u3000/\uff0f"  # between a bracket and the name
_WRITTEN = ("\\n", "\\r", "\\t", "\\/")  # the same as JSON writes it
_SEPARATORS = dict.fromkeys(map(ord, " \t\r\n-_.\u2010\u2011\u2012\u2013\u2014"))
_FULL_WIDTH = {0xFEE0 + code: code for code in range(0x21, 0x7F)}
_LOOKED_AT = 200  # characters
# Beginnings of names of tags with a meaning for a client or a model: in any spelling, and as written.
_NAMES = (
    *("systemreminder", "unifiedstate", "persistedoutput", "localcommand", "tasknotification", "userpromptsubmit"),
    *("teammatemessage", "sessionstarthook", "pastedcontent"),
)
_WRITTEN_NAMES = (
    *("command-", "command_", "antml:", "function_", "function-", "function=", "tool_", "tool-", "bash-", "task-"),
    *("ide_", "|im_", "|endof", "|start", "|end_", "|eot"),
)
_INVOKE, _BEHIND_INVOKE = "invoke", " \t\n>/:="
_INITIALS = frozenset(name[0] for name in (*_NAMES, *_WRITTEN_NAMES, _INVOKE))


def _tamed(text: str, sign: Callable[[str], str]) -> str:
    """Return the text with `sign` of the bracket in place of the bracket of each control tag."""
    for bracket in _BRACKETS:
        if bracket in text:
            first, *rest = text.split(bracket)
            text = first + "".join((sign(bracket) if _is_control(part) else bracket) + part for part in rest)
    return text


def _is_control(behind: str) -> bool:
    """Return whether the text behind a bracket is the rest of a control tag, in any spelling."""
    first = behind[:1].lower()
    if first.isascii() and first.isalnum() and first not in _INITIALS:
        return False  # most tags
    name = behind.lstrip(_BLANK)[:_LOOKED_AT]
    for written in _WRITTEN:
        name = name.replace(written, " ")
    name = name.lstrip(f"{_BLANK}\\").translate(_FULL_WIDTH).lower()
    if name.startswith(_WRITTEN_NAMES) or name.translate(_SEPARATORS).startswith(_NAMES):
        return True
    return name.startswith(_INVOKE) and name[len(_INVOKE) :][:1] in {"", *_BEHIND_INVOKE}
