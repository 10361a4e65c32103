"""Real texts to make vectors of: what stands in the steps of a folder of transcripts, cut into passages.

A folder of a few dozen sessions has some ten thousand steps, not a million. So the texts are cut at line ends into
passages of up to a hundred characters, each of them once, and where the transcripts are used up, text files of other
folders (what agents read: code, documentation) give the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from benchmarks.transcripts import blocks, find_transcripts, parse, read_lines, said

LONGEST, _SHORTEST = 100, 20  # characters
_TEXT_FILES = {".py", ".md", ".rst", ".txt", ".js", ".ts", ".c", ".h", ".html", ".json", ".toml", ".yaml", ".sh"}


def read_passages(folders: list[Path], count: int) -> list[str]:
    """The first so many passages of the transcripts, then of the text files below the folders."""
    texts = chain(_transcript_texts(folders), _file_texts(folders))
    return list(islice(_unique(passage for text in texts for passage in _cut(text)), count))


def read_prompts(folders: list[Path], count: int) -> list[str]:
    """What users asked in the transcripts: the queries of real life."""
    prompts = (
        block["text"]
        for path in chain.from_iterable(map(find_transcripts, folders))
        for entry in map(parse, read_lines(path))
        if entry.get("type") == "user" and not entry.get("isMeta")
        for block in blocks(entry)
        if block.get("type") == "text" and isinstance(block.get("text"), str) and not block["text"].startswith("<")
    )
    return list(islice(_unique(prompt[:500] for prompt in prompts if len(prompt) >= _SHORTEST), count))


def _transcript_texts(folders: list[Path]) -> Iterator[str]:
    for path in chain.from_iterable(map(find_transcripts, folders)):
        for entry in map(parse, read_lines(path)):
            yield said(entry)


def _file_texts(folders: list[Path]) -> Iterator[str]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _TEXT_FILES and path.is_file():
                yield path.read_text("utf-8", "replace")


def _cut(text: str) -> Iterator[str]:
    """Whole lines, as many as go into a passage; longer ones in pieces."""
    passage = ""
    for line in filter(None, map(str.strip, text.split("\n"))):
        if passage and len(passage) + len(line) >= LONGEST:
            yield passage
            passage = ""
        passage = f"{passage}\n{line}" if passage else line
        while len(passage) > LONGEST:
            yield passage[:LONGEST]
            passage = passage[LONGEST:]
    yield passage


def _unique(texts: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        if len(text) >= _SHORTEST and text not in seen:
            seen.add(text)
            yield text
