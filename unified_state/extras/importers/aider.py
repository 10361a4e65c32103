"""aider's chat history: `.aider.chat.history.md`, to which every chat is appended.

A line `# aider chat started at TIME` begins a chat. `#### ` begins a line of the user's, `> ` a line of aider itself
(applied edits, commits, costs, questions), and the rest is the model's answer: as aider itself reads the file. Only the
start of a chat has a time, that of this machine's time zone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import groupby

from unified_state.extras.importers.foreign_records import Conversation, sections
from unified_state.model.history_records import HistoryRecord
from unified_state.model.step import NOTICE, TEXT, TOOL_RESULT
from unified_state.upkeep.exchange.foreign_files import ForeignFile

NAME = "aider history"
_PROGRAM = "aider"
_BEGIN = "# aider chat started at "
_CHAT = re.compile(r"^# aider chat started at (.*)$", re.MULTILINE)
_CLOCK = "%Y-%m-%d %H:%M:%S"
_MARKS = {NOTICE: "####", TOOL_RESULT: ">"}


def told(head: str, _path: str) -> bool:
    """Return whether the first chat begins at the top."""
    return head.startswith(_BEGIN)


def read(file: ForeignFile) -> Iterator[HistoryRecord]:
    """Yield a session a chat, and its prompts, answers and aider's own lines as steps."""
    same: dict[str, int] = {}
    for line, chat in sections(file.text(), _CHAT):
        started = line.strip()
        same[started] = number = same.get(started, 0) + 1
        talk = Conversation(
            _PROGRAM, started.replace(" ", "T") + f"-{number}" * (number > 1), _time(started) or file.modified()
        )
        yield talk.session()
        lines = chat.split("\n")[1:]
        for kind, run in groupby(lines, _kind):
            mark = _MARKS.get(kind, "")
            text = "\n".join(said.removeprefix(mark).removeprefix(" " * bool(mark)).rstrip() for said in run).strip()
            if text:
                yield talk.step(kind, text)


def _kind(line: str) -> str:
    if line == "####" or line.startswith("#### "):
        return NOTICE
    return TOOL_RESULT if line == ">" or line.startswith("> ") else TEXT


def _time(text: str) -> int:
    try:
        return max(0, int(time.mktime(time.strptime(text, _CLOCK)) * 1000))
    except (ValueError, OverflowError):
        return 0
