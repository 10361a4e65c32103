"""Calibration: the number of tokens of the client's model per o200k token.

The API reports the size of the conversation with every answer. Between two answers it grows by the text between them in
the transcript, so growth divided by the o200k count of that text is the factor. The median over a session's large steps
is steady (1.2 to 1.35 on sessions of Claude 4.x).
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator

from unified_state.archive.archive import Archive
from unified_state.archive.sessions import recent_transcripts
from unified_state.hosts.transcripts.claude_code import read_entry
from unified_state.hosts.transcripts.transcript_lines import parse_entries, read_lines, usage_of
from unified_state.lib.record import Record
from unified_state.lib.tokens import count_tokens
from unified_state.state_file.page_out import calibrated_at, keep_calibration

_AGAIN_AFTER = 7 * 86_400_000  # milliseconds; the user may switch models
_BYTES = 2_000_000  # read from the end of the transcript
_LARGE = 2_000  # characters; in smaller steps the client's own framing distorts the factor
_FEWEST_SAMPLES, _MOST_SAMPLES = 5, 40
_LOWEST, _HIGHEST = 1.0, 2.0


class _Step(Record):
    """The text between two answers of the API, and the tokens by which the conversation grew."""

    text: str
    growth: int


def calibrate(archive: Archive, now: int) -> None:
    """Calibrate from the newest transcript, unless that was done recently or the transcript has too few large steps."""
    done_at = calibrated_at(archive)
    paths = [cursor.path for cursor, _ in recent_transcripts(archive, 1) if cursor.agent is None]
    if (done_at is not None and now - done_at < _AGAIN_AFTER) or not paths or not os.path.exists(paths[0]):
        return
    scale = measure(paths[0])
    if scale is not None:
        keep_calibration(archive, scale, now)


def measure(path: str) -> float | None:
    """Return the factor measured on a transcript; None if it has too few large steps."""
    steps = [step for step in _steps(path) if len(step.text) >= _LARGE and step.growth > 0][-_MOST_SAMPLES:]
    if len(steps) < _FEWEST_SAMPLES:
        return None
    counts = count_tokens([step.text for step in steps])
    factor = statistics.median(step.growth / count for step, count in zip(steps, counts, strict=True))
    return min(max(factor, _LOWEST), _HIGHEST)


def _steps(path: str) -> Iterator[_Step]:
    """Yield the steps at the end of a transcript. A negative growth shows a compaction."""
    size_before, message_before = None, None
    texts: list[str] = []
    for _, line in read_lines(path, max(0, os.path.getsize(path) - _BYTES)):
        for entry in parse_entries(line):
            usage = usage_of(entry)
            if usage is not None and usage.message_id != message_before:
                if size_before is not None:
                    yield _Step("\n".join(texts), usage.context_tokens - size_before)
                size_before, texts, message_before = usage.context_tokens, [], usage.message_id
            texts += [found.text for found in read_entry(entry) if hasattr(found, "text")]
