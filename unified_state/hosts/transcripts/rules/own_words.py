"""Extract the parts of a prompt that the user wrote. Only these can create binding rules.

Text that a client, a hook, a file, a web page, a mail or a log put into the user's place is left out: tagged blocks
(`<system-reminder>`, `<pasted_content>`, `<task-notification>`, echoes of commands), fenced and indented code, quoted
lines, lines of a log, a quoted mail, the plan that the client hands over, and long blocks without a list. If in doubt,
a part does not count as the user's. Invariant: every passage is a slice of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from unified_state.lib.text import is_cjk

# Beginnings of prompts that the client writes and people do not.
_MACHINE_OPENINGS = (
    "Stop hook feedback:",
    "Implement the following plan:",  # the model's plan, which the user approved
    "Base directory for this skill:",
    "Caveat: The messages below were generated",
    "This session is being continued from a previous conversation",
    "[Request interrupted",
    "Operation stopped by hook: ",
)
# Tags of the client and of our output. Their text is never the user's. Without an end tag such a tag hides all text
# after it.
_MACHINE_TAGS = (
    "bash-", "command-", "ide_", "local-command-", "pasted_content", "persisted-output", "session-start-hook",
    "system-reminder", "task-", "teammate-message", "tool_use_error", "unified-state-", "user-prompt-submit-hook",
)  # fmt: skip
_COMPACTING = ("compact", "/clear")  # commands whose arguments are for the client or for us
_COMMAND, _WRAPPED = "<command-", ("<teammate-message", "<user-memory-input>")
_FENCES = ("```", "~~~")
_FOREIGN_LINES = (">", "|", "    ", "\t", "$ ", "* commit ", "[Pasted text ", "[Image ", "[Attached ")
# Lines of logs, of git, of a shell and of a trace; and what a screen of an agent shows, up to the end of its paragraph.
_LOG_LINE = re.compile(
    r"^(?:(?:fatal|error|warning|hint|panic): |\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d|={3,} \S"
    r"|--- (?:FAIL|PASS|SKIP|a/)|\+\+\+ b/|@@ -|Traceback \(most|npm ERR!|On branch \S+$"
    r"|[\w.-]+@[\w.-]+:[~/][^\n$#]*[$#] | *(?:commit [0-9a-f]{40}\b|Author: [^\n]*<\S+@\S+>|Date: {3}\w"
    r"|diff --git a/|at \S+ \(\S+:\d+:\d+\)|File \"[^\n\"]+\", line \d)|[ >]*[\u2502\u256d\u2570\u251c\u2514])[^\n]*"
    r"|(?:^|(?<=: ))[ >]*[\u276f\u23fa\u23bf\u273b] (?s:.*)",
    re.MULTILINE,
)
_MAIL_BEGINS = ("-----Original Message", "Begin forwarded message", "---------- Forwarded message")

# What may stand before a statement in its sentence without changing it: "And please, never push."
_ASIDES = r",:\-\u2013\u2014*\u2022)( \t0-9."
_OPENERS = (
    "actually|again|also|and|attention|btw|but|from|here|hey|important|just|no|note|now|oh|ok|okay|on|please|remember"
    "|reminder|rule|so|then|yeah|yes"
)
_BEGINS = rf"(?:\A|[?\uff1f.!;\n\u3002\uff01\uff1b])(?:[{_ASIDES}]|(?:{_OPENERS})(?=[{_ASIDES}]))*"
_ENDS = r"[ \t]*(?:\Z|[\n\u3002\uff01\uff1b]|[.!;](?:\Z|\s))"
_END_SIGNS = ".!;\n\u3002\uff01\uff1b"
_BULLETS = set("-*\u2022+0123456789")
_LEAST_WORDS, _MOST_LINES, _LONGEST_PARAGRAPH = 3, 8, 2_000
_CHARACTERS_OF_A_WORD = 2  # in Chinese and Japanese
_TAG = re.compile(r"<([^\W\d_][\w:-]*)(?=[> \n/])")
_MOST_TAGS = 200  # distinct tags in a prompt; people never write more


def own_passages(prompt: str) -> list[str]:
    """Return the paragraphs of a prompt that its user wrote, in order.

    The search stops at a block that was not typed, because the text after it may belong to the block.
    """
    if prompt.lstrip().startswith(_MACHINE_OPENINGS):
        return []
    return list(_outside_logs(takewhile(_is_typed, _paragraphs(prompt))))


def typed_passages(prompt: str) -> list[str]:
    """Return what the user typed for a restore to quote: the paragraphs of `own_passages`, the last paragraph behind
    what was pasted, the arguments of a slash command, the task that the lead of a team of agents gave, and what old
    clients took behind a `#`.

    Only the paragraphs of `own_passages` can become binding.
    """
    start = prompt.lstrip()
    if start.startswith(_COMMAND):
        given = without_command(prompt)
        return [] if given is None else [given.strip()]
    if start.startswith(_WRAPPED):
        return prompt.partition(">")[2].rpartition("</")[0].strip().split("\n\n")
    if start.startswith(_MACHINE_OPENINGS):
        return []
    paragraphs = list(_paragraphs(prompt))
    typed = list(takewhile(_is_typed, paragraphs))
    last = filter(_is_typed, paragraphs[max(len(typed), len(paragraphs) - 1) :])
    return list(_outside_logs([*typed, *last]))


def _outside_logs(paragraphs: Iterable[str]) -> Iterator[str]:
    """Yield the lines of typed paragraphs that do not look like a log's."""
    for paragraph in paragraphs:
        yield from filter(str.strip, _LOG_LINE.split(paragraph))


def _paragraphs(prompt: str) -> Iterator[str]:
    """Yield the paragraphs of a prompt outside of tags, code and quotations."""
    for part in _outside_tags(prompt):
        for lines in _outside_quotes(part):
            yield from filter(str.strip, lines.split("\n\n"))


def without_command(prompt: str) -> str | None:
    """Return the arguments of a slash command, as typed or as the transcript has it, or a prompt without a command.

    None stands for a command whose arguments are for the client or for us.
    """
    start = prompt.lstrip()
    if start.startswith(_COMMAND):
        name, given = _inner(prompt, "command-name").strip(), _inner(prompt, "command-args")
    elif start.startswith("/"):
        name, given = [*start.split(None, 1), ""][:2]
    else:
        return prompt
    return None if name.endswith(_COMPACTING) else given


def _inner(text: str, tag: str) -> str:
    """Return the text inside the first tag of this name, or ""."""
    return text.partition(f"<{tag}>")[2].rpartition(f"</{tag}>")[0]


def said_in(passages: list[str], text: str) -> str | None:
    """Return the words of a passage that state a text in full, or None.

    A part of a sentence may mean the opposite, and a question states nothing.
    """
    if len(text.split()) + sum(map(is_cjk, text)) // _CHARACTERS_OF_A_WORD < _LEAST_WORDS:
        return None
    wanted = text.strip().rstrip(_END_SIGNS)
    statement = re.compile(f"{_BEGINS}({re.escape(wanted)}){_ENDS}", re.IGNORECASE)
    found = next(filter(None, map(statement.search, passages if wanted else ())), None)
    return found and found[1]


def _is_typed(paragraph: str) -> bool:
    """Return whether a person may have typed a paragraph. A paragraph of many lines must be a list, and the length is
    limited.
    """
    lines = paragraph.strip().split("\n")
    items = sum(line.lstrip()[:1] in _BULLETS for line in lines if line.strip())
    return len(paragraph) <= _LONGEST_PARAGRAPH and (len(lines) <= _MOST_LINES or items > len(lines) / 2)


def _outside_tags(text: str) -> Iterator[str]:
    """Yield the text outside of `<tag>…</tag>`. A tag extends to its last end tag, so text inside cannot close it
    early.
    """
    begin = at = 0
    closings: dict[str, int] = {}
    while tag := _TAG.search(text, at):
        at, name = tag.start(), tag[1]
        close = closings[name] if name in closings else closings.setdefault(name, text.rfind(f"</{name}>"))
        if close > at:
            yield text[begin:at]
            begin = at = close + len(name) + 3
        elif name.startswith(_MACHINE_TAGS) or len(closings) > _MOST_TAGS:
            yield text[begin:at]
            return
        else:
            at += 1
    yield text[begin:]


def _outside_quotes(text: str) -> Iterator[str]:
    """Yield the runs of lines that are not code, quotation or mail."""
    begin = at = 0
    fence = ""
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        opens = bare[:3] if bare.startswith(_FENCES) else ""
        if not fence and _begins_mail(bare):
            break
        if fence or opens or line.startswith(_FOREIGN_LINES):
            yield text[begin:at]
            begin = at + len(line)
        if opens:
            fence = "" if fence == opens else fence or opens
        at += len(line)
    yield text[begin:at]


def _begins_mail(line: str) -> bool:
    return line.startswith(_MAIL_BEGINS) or (line.startswith("On ") and line.endswith("wrote:"))
