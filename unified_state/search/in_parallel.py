"""Run the same work on many archives in several processes, as many as this one may use processors."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.processes import count_processors

_PIECE = 1 << 16  # bytes
_FEWEST = 16  # archives for one process: to start it takes as long as to search some of them


def each(work: Callable[[str], Any], paths: list[str]) -> list[Any]:
    """Return work(path) of each path, in their order. What `work` returns is a JSON value, and it keeps no state."""
    count = min(count_processors(), len(paths) // _FEWEST)
    if count < 2:  # noqa: PLR2004  # one process does it alone
        return [work(path) for path in paths]
    children = [_start(work, paths[number::count]) for number in range(1, count)]
    found: dict[str, Any] = {path: work(path) for path in paths[::count]}
    for number, child in enumerate(children, 1):
        values = _end(*child)
        found.update(zip(paths[number::count], values, strict=False))
    return [found[path] if path in found else work(path) for path in paths]


def _start(work: Callable[[str], Any], paths: list[str]) -> tuple[int, int]:
    """Start a process that works on paths. Return its id, and where to read what it found."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    code = 1
    try:  # whatever happens, this copy of the process does nothing else
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(dump_json([work(path) for path in paths]).encode("utf-8", "surrogatepass"))
        code = 0
    finally:
        os._exit(code)


def _end(child: int, reading: int) -> list[Any]:
    """Wait for a process, and return what it found; nothing if it failed: then this process does its work."""
    told = b"".join(iter(lambda: os.read(reading, _PIECE), b""))
    os.close(reading)
    _, status = os.waitpid(child, 0)
    values: list[Any] = parse_json(told.decode("utf-8", "surrogatepass")) if status == 0 else []
    return values
