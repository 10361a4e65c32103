"""The statements in a Markdown file of rules: one for each sentence, with the number of its line."""

from __future__ import annotations

from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKS = "-*+>0123456789.) \t"
_FENCES = ("```", "~~~")
_ENDS = (". ", "! ", "? ", "; ")
_NO_STATEMENT = ("#", "|", "<", "@", "---")
_SHORTEST, _LONGEST = 8, 400  # characters
_MOST = 2_000  # statements of one file


class Written(Record):
    """A sentence, the number of its line from 1, and whether the line holds nothing else."""

    text: str
    line: int
    is_whole: bool


def written_rules(text: str) -> Iterator[Written]:
    """Yield the statements of a file, without code blocks, headings, tables and front matter."""
    count, fence = 0, ""
    lines = text.split("\n")
    begin = _after_front_matter(lines)
    for number, line in enumerate(lines[begin:], begin + 1):
        bare = line.strip()
        mark = next((mark for mark in _FENCES if bare.startswith(mark)), "")
        if mark and fence in ("", mark):
            fence = "" if fence else mark
            continue
        if fence or bare.startswith(_NO_STATEMENT):
            continue
        sentences = list(_sentences(bare.lstrip(_MARKS)))
        for sentence in sentences:
            if _SHORTEST <= len(sentence) <= _LONGEST:
                count += 1
                if count > _MOST:
                    return
                yield Written(sentence, number, len(sentences) == 1)


def _after_front_matter(lines: list[str]) -> int:
    if lines[0].strip() != "---":
        return 0
    return next((number for number, line in enumerate(lines[1:], 2) if line.strip() == "---"), 0)


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for position in range(len(line)):
        if line.startswith(_ENDS, position):
            yield line[start : position + 1].strip()
            start = position + 1
    if rest := line[start:].strip():
        yield rest
