"""Recorded texts as a person reads them: Markdown as markup, edits of files as differences. Every text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import unified_diff
from typing import Any

from markupsafe import Markup, escape

_KINDS = {
    "pre": re.compile(r"\s*(```+|~~~+)"),
    "": re.compile(r"\s*$"),
    "h3": re.compile(r"#{1,6}\s"),
    "li": re.compile(r"(\s*)(?:[-*+]|(\d+[.)]))\s+(.*)"),
    "table": re.compile(r"\s*\|"),
    "blockquote": re.compile(r"\s*> ?"),
}
_RULE = re.compile(r"[\s|:-]+$")  # between the head of a table and its rows
_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`|\*\*(?P<b>[^*\n]+)\*\*|(?<!\w)(?P<mark>[*_])(?P<em>[^\s*_](?:[^*_\n]*[^\s*_])?)(?P=mark)(?!\w)"
    r"|\[(?P<a>[^\]\n]+)\]\((?P<to>https?://[^)\s]+)\)"
)
_MOST_DEPTH = 3
_MOST_COMPARED = 20_000  # characters of each side of an edit


def markdown(text: str) -> Markup:
    """Return the markup of a text: headings, lists, tables, quotes, code, links and emphasis."""
    blocks: list[tuple[str, list[str]]] = []
    fence = ""
    for line in text.splitlines():
        kind = next((name for name, form in _KINDS.items() if form.match(line)), "p")
        if fence and line.strip().startswith(fence):
            fence = ""
        elif fence:
            blocks[-1][1].append(line)
        elif kind == "pre":
            fence = line.strip()[:3]
            blocks.append((kind, []))
        elif blocks and (kind == blocks[-1][0] != "li" or (kind == "p" and line[0] == " " and blocks[-1][0] == "li")):
            blocks[-1][1].append(line)
        else:
            blocks.append((kind, [line]))
    return Markup("").join(_block(kind, lines) for kind, lines in blocks)


def _block(kind: str, lines: list[str]) -> Markup:
    if kind == "table":
        rows = [line.strip().strip("|").split("|") for line in lines if not _RULE.match(line)]
        return Markup("<table>{}</table>").format(Markup("").join(map(_row, rows)))
    if kind == "li":
        indent, number, first = _KINDS[kind].match(lines[0]).groups()  # type: ignore[union-attr]  # it matched before
        item = "\n".join([first, *(line.strip() for line in lines[1:])])
        return Markup('<p class="li in{}">{} {}</p>').format(
            min(len(indent) // 2, _MOST_DEPTH), number or "•", _inline(item)
        )
    text = "\n".join(line.lstrip("#> ") if kind in {"h3", "blockquote"} else line for line in lines)
    return Markup("<{0}>{1}</{0}>").format(kind, text if kind == "pre" else _inline(text)) if kind else Markup("")


def _row(cells: list[str]) -> Markup:
    return Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(_inline(cell)) for cell in cells))


def _inline(text: str) -> Markup:
    pieces, at = [], 0
    for found in _INLINE.finditer(text):
        pieces.append(escape(text[at : found.start()]))
        name = next(name for name in ("code", "b", "em", "a") if found[name] is not None)
        to = Markup(' href="{}" rel="noreferrer"').format(found["to"]) if name == "a" else ""
        pieces.append(Markup("<{0}{1}>{2}</{0}>").format(name, to, found[name]))
        at = found.end()
    return Markup("").join([*pieces, escape(text[at:])])


def edit_of(given: dict[str, Any]) -> str:
    """Return what a tool call changes in a file: lines that begin with `+`, `-` or a space, or ""."""
    edits = given.get("edits")
    changes = [one for one in edits if isinstance(one, dict)] if isinstance(edits, list) else [given]
    if given.get("file_path") and isinstance(given.get("content"), str):
        changes = [{"new_string": given["content"]}]
    return "\n".join(line for one in changes if "new_string" in one for line in _differences(one))


def _differences(change: dict[str, Any]) -> Iterable[str]:
    old, new = (str(change.get(name) or "")[:_MOST_COMPARED].splitlines() for name in ("old_string", "new_string"))
    return list(unified_diff(old, new, lineterm=""))[3:]  # without the names of files and the first place


def difference(text: str) -> Markup:
    """Return the markup of such lines."""
    tags = {"+": Markup("<ins>{}</ins>"), "-": Markup("<del>{}</del>")}
    return Markup("\n").join(tags.get(line[:1], Markup("{}")).format(line) for line in text.split("\n"))
