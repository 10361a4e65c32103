"""What an agent finds with grep: the places in the transcript around the rarest words of its prompt."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

_WORD = re.compile(r"[^\W\d_]\w{3,}")
_WORDS, _AROUND = 10, 400  # words that are looked for, and characters on either side of them
_PRINTED = 30_000  # characters of a command's output that Claude Code shows to the model


def grepped(transcript: Path, copy: Path, prompt: str) -> str:
    """Return what grep prints. It reads a copy of the transcript, without what unified-state gave to the session."""
    lines = transcript.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if '"hook_additional_context"' not in line)
    copy.write_text(kept.replace(str(copy.parent), "/folder"), encoding="utf-8")  # the same in every run
    whole = copy.read_text(encoding="utf-8").casefold()
    words = sorted({word.casefold() for word in _WORD.findall(prompt)})
    counted = sorted((count, word) for word in words if (count := whole.count(word)))
    rare = [word for _, word in counted[:_WORDS]]
    if not rare:
        return ""
    words = [option for word in rare for option in ("-e", word)]
    command = ["grep", "-i", "-F", "-n", *words, str(copy)]
    done = subprocess.run(command, capture_output=True, env={"LC_ALL": "C"}, check=False)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return "\n".join(found for line in lines for found in _around(line, rare))[:_PRINTED]


def _around(line: str, words: list[str]) -> Iterator[str]:
    """The parts of a line around each of the words, as `cut` or `grep -o` would show them; lines here are long."""
    folded, end = line.casefold(), 0
    for place in sorted({at for word in words for at in _places(folded, word)}):
        if place >= end:
            end = place + _AROUND
            yield line[max(0, place - _AROUND) : end]


def _places(line: str, word: str) -> Iterator[int]:
    at = line.find(word)
    while at >= 0:
        yield at
        at = line.find(word, at + 1)
