"""Sessions as the benchmark of lean context replays them: tool outputs, what the agent wrote, and the requests between,
cut into stretches at compactions, behind which nothing of before stands in the context.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.transcripts import Entry, blocks, find_transcripts, parse, read_lines, result_of, strings
from unified_state.extras.lean.rules.answer_shapes import text_of

_BOUNDARY = "compact_boundary"


@dataclass
class Output:
    """One tool output: what was called, what came back, and how much the agent had written before it came; whether it
    `is_taken`: a hook behind the call is told of it, and the client takes another text for it.
    """

    tool: str
    given: Entry
    text: str
    written_before: int  # characters of the stretch's `written`
    requests_before: int
    is_taken: bool = False
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")


@dataclass
class Stretch:
    """What stood in one context: from a compaction, or the beginning, to the next. `written` is all that the agent
    wrote, in order: its texts and the inputs of its calls, a line break between; `context` the tokens of each request.
    """

    session: str
    outputs: list[Output] = field(default_factory=list)
    written: str = ""
    heard: list[tuple[int, str]] = field(default_factory=list)  # prompts and the like, by `written_before`
    context: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # where in `written` each request begins


def stretches(folder: Path) -> Iterator[Stretch]:
    """The stretches of all transcripts in a folder, in a fixed order."""
    for path in find_transcripts(folder):
        yield from stretches_of(path.name.partition(".")[0], [parse(line) for line in read_lines(path)])


def stretches_of(name: str, entries: list[Entry]) -> Iterator[Stretch]:
    """The stretches of a session's entries."""
    stretch, calls, messages = Stretch(name), dict[str, Entry](), set[str]()
    pieces: list[str] = []
    length = 0
    for entry in entries:
        if entry.get("subtype") == _BOUNDARY:
            yield _closed(stretch, pieces)
            stretch, pieces, length = Stretch(name), [], 0
        if entry.get("type") not in {"user", "assistant"} or entry.get("isSidechain"):
            continue
        message = entry["message"]
        if entry["type"] == "assistant" and message.get("id") not in messages:
            messages.add(message.get("id"))
            stretch.context.append(_context(message.get("usage") or {}))
            stretch.starts.append(length)
        for block in blocks(entry):
            if block.get("type") == "tool_use":
                calls[block["id"]] = block
            if block.get("type") == "tool_result":
                call = calls.get(block.get("tool_use_id", ""), {})
                tool, given = call.get("name", ""), call.get("input") or {}
                is_taken = not block.get("is_error") and text_of(tool, entry.get("toolUseResult")) is not None
                stretch.outputs.append(Output(tool, given, result_of(block), length, len(stretch.context), is_taken))
            elif entry["type"] == "assistant":
                said = "\n".join([*strings(block.get("text")), *strings(block.get("input"))]) + "\n"
                pieces.append(said)
                length += len(said)
            else:
                stretch.heard.append((length, "\n".join(strings(block.get("text")))))
    yield _closed(stretch, pieces)


def _closed(stretch: Stretch, pieces: list[str]) -> Stretch:
    stretch.written = "".join(pieces)
    return stretch


def _context(usage: Entry) -> int:
    return sum(
        int(usage.get(name) or 0)
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    )
