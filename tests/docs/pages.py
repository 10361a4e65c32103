"""The pages that people read, and what can be checked in them: blocks, links, headings, command lines.

A page is Markdown as GitHub shows it. Fenced blocks of the kinds `console` and `python` are examples that run, the
other kinds are only shown. An HTML comment that begins with `setup` or `client` is a part of the examples that readers
do not see: `examples.py` tells what they say.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in _OUTSIDE), *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(
    r"^```(?P<kind>\w*)\n(?P<code>.*?)^```$|^<!-- (?P<hidden>setup|client)\n(?P<script>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (?P<title>.+)$", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`(?P<code>[^`\n]+)`(?!`)")
_ENDS_A_COMMAND = set("|&;<>#")


@dataclass(frozen=True)
class Block:
    """A fenced block (`kind` is its language) or a hidden one (`setup`, `client`); `start` is where its text begins."""

    kind: str
    text: str
    start: int


def name_of(page: Path) -> str:
    """A page as people call it."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: str) -> list[Block]:
    """All blocks of a page, in order."""
    found = []
    for match in _BLOCK.finditer(page):
        group = "script" if match["hidden"] else "code"
        found.append(Block(match["hidden"] or match["kind"], match[group], match.start(group)))
    return found


def prose(page: str) -> str:
    """A page without its blocks."""
    return _BLOCK.sub("", page)


def links(page: str) -> list[str]:
    """The targets of a page's links."""
    return [match["target"] for match in _LINK.finditer(prose(page))]


def anchors(page: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    found: set[str] = set()
    for match in _HEADING.finditer(prose(page)):
        slug = re.sub(r"[^\w\- ]", "", match["title"].replace("`", "").lower()).replace(" ", "-")
        count = 1
        while slug in found:
            slug = f"{slug.rsplit('-', 1)[0] if count > 1 else slug}-{count}"
            count += 1
        found.add(slug)
    return found


def commands_of(block: str) -> Iterator[str]:
    """The commands of a `console` block: behind `$ `, with their further lines behind `> `."""
    command = ""
    for line in block.splitlines():
        if line.startswith("$ "):
            if command:
                yield command
            command = line[2:]
        elif line.startswith("> ") and command:
            command += "\n" + line[2:]
    if command:
        yield command


def program_calls(page: str) -> list[list[str]]:
    """The arguments of every call of `unified-state` on a page: in its blocks, and in its text as code."""
    lines = _inline(prose(page))
    for block in blocks(page):
        match block.kind:
            case "console":
                lines += commands_of(block.text)
            case "client":
                lines += [line.removeprefix("bash ") for line in block.text.splitlines() if line.startswith("bash ")]
            case "sh" | "setup":
                lines += block.text.splitlines()
            case "markdown":
                lines += _inline(block.text)
    return [call for line in lines for call in _calls_in(line)]


def _inline(text: str) -> list[str]:
    return [match["code"] for match in _INLINE.finditer(text)]


def _calls_in(line: str) -> Iterator[list[str]]:
    """A line may hold several commands: `unified-state age && …`."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # the beginning of a text over several lines
        return
    call: list[str] | None = None
    for word in [*words, ";"]:
        if call is None and word == "unified-state":
            call = []
        elif call is not None and set(word) <= _ENDS_A_COMMAND:
            yield call[:-1] if word[0] == ">" and call[-1:] == ["2"] else call  # 2>&1
            call = None
        elif call is not None:
            call.append(word)
