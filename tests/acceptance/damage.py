"""What crashes, disks and people do to files. Every list is the same in every run of the tests."""

from __future__ import annotations

import json
import random

SEED = 20_261_121

_WRONG_SECTIONS: dict[str, object] = {
    "decisions": "oops",
    "constraints": {"C1": "API v1 stays"},
    "openQuestions": [["Q1"], 5, None],
    "evidenceLedger": 7,
}


def damaged_state_files(whole: bytes) -> list[tuple[str, bytes]]:
    """A hundred damaged versions of a state file, each with a name."""
    chance = random.Random(SEED)
    middle = whole.index("é".encode()) + 1
    cases = [(f"cut at byte {at}", whole[:at]) for at in sorted(chance.sample(range(1, len(whole) - 2), 34))]
    cases += [(f"bit flipped at byte {at}", _flipped(whole, at)) for at in chance.sample(range(len(whole)), 20)]
    cases += [(f"{size} bytes of garbage", chance.randbytes(size)) for size in (1, 2, 3, 16, 100, 4096, 100_000)]
    cases += [
        ("empty", b""),
        ("a line end", b"\n"),
        ("a byte order mark", b"\xef\xbb\xbf"),
        ("all NUL", bytes(len(whole))),
        ("its end NUL", whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2)),
        ("NUL in a text", whole.replace(b"SQLite", b"SQ\x00ite", 1)),
        ("half a character", whole[:middle]),
        ("half a character in a text", whole[:middle] + whole[middle + 1 :]),
        ("UTF-16", whole.decode().encode("utf-16")),
        ("Latin-1", whole.decode().encode("latin-1", "replace")),
        ("itself twice", whole * 2),
        ("a conflict of git", b"<<<<<<< HEAD\n" + whole + b"=======\n>>>>>>> other\n"),
        ("a comma too many", whole.replace(b"}\n}", b"},\n}")),
    ]
    cases += [(f"nested {depth} deep", b'{"a":' * depth) for depth in (100, 990, 1000, 100_000)]
    cases += [(f"lists nested {depth} deep", b"[" * depth + b"]" * depth) for depth in (10, 990, 100_000)]
    cases += [(text, text.encode()) for text in ("null", "true", "5", "[]", '"text"', "{}", "NaN")]
    cases += [(f"version {version!r}", _with(whole, "version", version)) for version in (None, 3, "", "x", "²", "v3")]
    cases += [("version of 5,000 digits", _with(whole, "version", "3" * 5000))]
    cases += [("no version", _with(whole, "version"))]
    cases += [(f"{name} of another type", _with(whole, name, value)) for name, value in _WRONG_SECTIONS.items()]
    assert len(cases) == 100, len(cases)
    return cases


def is_readable(raw: bytes) -> bool:
    """Whether a state file is one as a person could have left it: an object of a known version with proper sections."""
    try:
        state = json.loads(raw.decode("utf-8-sig"), strict=False)
        version = int(state["version"].split(".")[0])
        sections = [state.get(name, []) for name in _WRONG_SECTIONS]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    return version == 3 and all(
        isinstance(section, list) and all(isinstance(entry, dict) for entry in section) for section in sections
    )


def damaged_archives(whole: bytes, page_size: int) -> list[tuple[str, bytes]]:
    """A hundred damaged versions of an archive, each with a name."""
    chance = random.Random(SEED)
    pages = range(len(whole) // page_size)
    cases = [(f"cut at byte {at}", whole[:at]) for at in chance.sample(range(1, len(whole)), 14)]
    cases += [(f"cut after page {page}", whole[: page * page_size]) for page in chance.sample(pages[1:], 8)]
    cases += [(f"page {page} garbage", _paged(whole, page, page_size, chance.randbytes)) for page in pages[:30]]
    cases += [(f"page {page} NUL", _paged(whole, page, page_size, bytes)) for page in chance.sample(pages, 14)]
    cases += [(f"bit flipped at byte {at}", _flipped(whole, at)) for at in chance.sample(range(len(whole)), 14)]
    cases += [
        (f"bit flipped in the header at {at}", _flipped(whole, at)) for at in (0, 5, 15, 16, 19, 20, 21, 28, 44, 56)
    ]
    cases += [(f"{size} bytes of garbage", chance.randbytes(size)) for size in (1, 100, 4096, 100_000)]
    cases += [
        ("empty", b""),
        ("all NUL", bytes(len(whole))),
        ("a text", b"this was an archive\n"),
        ("the header alone", whole[:100]),
        ("another header", chance.randbytes(100) + whole[100:]),
        ("itself twice", whole * 2),
    ]
    assert len(cases) == 100, len(cases)
    return cases


def _flipped(whole: bytes, at: int) -> bytes:
    return whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :]


def _paged(whole: bytes, page: int, size: int, fill: object) -> bytes:
    assert callable(fill)
    content: bytes = fill(size)
    return whole[: page * size] + content + whole[(page + 1) * size :]


def _with(whole: bytes, name: str, *value: object) -> bytes:
    """The state file with another value of one field, or without it."""
    state = json.loads(whole)
    del state[name]
    return json.dumps({**state, **({name: value[0]} if value else {})}, ensure_ascii=False).encode()
