"""The statements of a summary: its sentences with their places, and the refs of items that stand in or before them."""

from __future__ import annotations

from unified_state.model.item import ALIAS_LETTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LETTERS = frozenset(ALIAS_LETTERS.values())
_ENDS = frozenset(".!?;")
_CJK_ENDS = frozenset("。！？；")
_LEADS = frozenset(":：|=—–-)]*")  # behind a ref that begins a statement
_MOST_REFS = 200  # in one line
_NEAR = 80  # characters round a ref that say whether it begins a statement
_MOST = 4_000  # statements that are looked at
_LONGEST = 600  # characters of one statement that are compared


class Statement:
    """One statement: its text and place, the refs in it, and the ref that it begins with."""

    __slots__ = ("begin", "end", "led_by", "refs", "text")

    def __init__(self, text: str, begin: int, led_by: str, refs: frozenset[str]) -> None:
        self.text, self.begin, self.end = text, begin, begin + len(text)
        self.led_by, self.refs = led_by, refs


def statements(summary: str) -> list[Statement]:
    """All statements of a summary, in order."""
    found: list[Statement] = []
    begin = 0
    heading = ""  # a ref that stands alone in its line leads the next one
    for line in summary.splitlines(keepends=True):
        stated = list(_of_line(line, begin, heading))
        if any(character.isalnum() for character in line):
            heading = stated[0].led_by if len(stated) == 1 and _is_ref_alone(stated[0]) else ""
        found += stated
        begin += len(line)
        if len(found) > _MOST:
            break
    return found


def _is_ref_alone(statement: Statement) -> bool:
    return bool(statement.led_by) and statement.text.strip(" #*-:.()[]|`\n").upper() == statement.led_by


def _of_line(line: str, begin: int, heading: str) -> Iterator[Statement]:
    """The statements of a line: what each ref begins, else its sentences."""
    places = _refs(line)[:_MOST_REFS]
    leads = [(start, end, ref) for start, end, ref in places if _leads(line, start, end)]
    cuts = [0, *(start for start, _, _ in leads), len(line)]
    for number, start in enumerate(cuts[:-1]):
        led_by = leads[number - 1][2] if number else heading
        for first, last in _sentences(line, start, cuts[number + 1], whole=bool(led_by)):
            text = line[first:last]
            if text.strip():
                refs = frozenset(ref for place, _, ref in places if first <= place < last)
                yield Statement(text[:_LONGEST], begin + first, led_by, refs)


def _leads(line: str, start: int, end: int) -> bool:
    """Whether what follows a ref is what the item says: `D3: …`, `**D3** (irreversible): …`, `| D3 | …`, `(D3) …`."""
    near = line[max(0, start - _NEAR) : start]
    before, after = near.rstrip(" \t([*`"), line[end : end + _NEAR].lstrip("*`")
    opens = not before or before[-1] in ".;:,|!?。；，、-*•#>" or before[-1].isdigit()
    if after[:1] in {")", "]"} and opens and near.rstrip("*`")[-1:] in {"(", "["}:
        return not before or not before[-1].isalnum()
    rest = after.lstrip(" ")
    if rest.startswith("("):
        rest = rest[rest.find(")") + 1 :].lstrip(" *") if ")" in rest else ""
        return rest[:1] in _LEADS and opens
    return rest[:1] in _LEADS or (not near.strip(" \t-*•#>|`([") and bool(rest.strip()))


def _refs(line: str) -> list[tuple[int, int, str]]:
    """The refs of items in a line, with their places."""
    found = []
    for position, character in enumerate(line):
        if character.upper() in _LETTERS and line[position + 1 : position + 2].isdigit():
            end = position + 1
            while end < len(line) and line[end].isdigit():
                end += 1
            around = line[max(0, position - 1) : position] + line[end : end + 1]
            if line[position + 1 : end].isascii() and not any(
                sign.isascii() and (sign.isalnum() or sign in "_./#") for sign in around.rstrip(".")
            ):
                found.append((position, end, line[position:end].upper()))
    return found


def _sentences(line: str, start: int, stop: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """The places of the sentences of a part of a line; a part that a ref leads is one statement."""
    if whole:
        yield start, stop
        return
    begin = start
    for position in range(start, stop):
        is_end = line[position] in _CJK_ENDS or (
            line[position] in _ENDS
            and line[position + 1 : position + 2].isspace()
            and not _is_abbreviation(line, position)
        )
        if is_end:
            yield begin, position + 1
            begin = position + 1
    if begin < stop:
        yield begin, stop


def _is_abbreviation(line: str, position: int) -> bool:
    """Whether a full stop belongs to `e.g.`, `i.e.`, `vs.` or the number of a list."""
    word = line[max(0, position - _NEAR) : position].rsplit(None, 1)[-1:] or [""]
    return line[position] == "." and (
        word[0].lstrip("(").lower() in {"e.g", "i.e", "vs", "etc", "no"} or word[0].isdigit()
    )
