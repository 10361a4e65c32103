"""The files that a session worked with and the names in them, the most important first, from its newest steps.

A file, and each name in it, is worth the sum of the weights of its sightings. A sighting counts half for every 40 steps
since, so older steps than a restore reads would change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from unified_state.hosts.transcripts.rules.call_effects import Call, is_about_work, read_call
from unified_state.model.known import WorkingFile
from unified_state.model.step import TOOL_CALL, TOOL_RESULT, Step
from unified_state.restore.rules.sightings import Sighting, sightings

_HALF_LIFE = 40.0  # steps; on real sessions 30 to 60 do nearly as well, 250 does worse
_MOST_FILES = 60


class _File:
    """What is known of a file up to a step: its worth, the worth of its names, and what became of it."""

    def __init__(self) -> None:
        self.worth = 0.0
        self.names: dict[str, float] = {}
        self.is_used = False
        self.gone = ""

    def see(self, seen: Sighting, worth: float) -> None:
        """Take in one more sighting."""
        kept = self.names if seen.whole is None else self.names.keys() & seen.whole
        self.names = {name: self.names[name] for name in kept if name not in seen.lost}
        for old, new in seen.renamed:
            renamed = {name.replace(old, new): worth for name, worth in self.names.items()}
            self.names = {name: worth for name, worth in renamed.items() if name.isidentifier()}
        for name in seen.words:
            self.names[name] = self.names.get(name, 0.0) + worth
        self.worth += worth
        self.is_used |= seen.is_used
        self.gone = self.gone if seen.gone is None else seen.gone


def session_files(steps: Iterable[Step], root: str) -> tuple[WorkingFile, ...]:
    """Return the files of steps that are in order. Paths are relative to the folder `root`. Of a subagent only the tool
    calls count, not what it read or said.
    """
    files: dict[str, _File] = {}
    for seen, before in _seen(steps, root):
        if seen.gone and seen.path not in files:  # a folder that a command removed or moved
            for path, file in files.items():
                file.gone = seen.gone if path.startswith(f"{seen.path}/") else file.gone
        is_change = seen.path in files and files[seen.path].gone != seen.gone
        if seen.gone is None or seen.words or is_change:  # else it says nothing new of a file of the session
            files.setdefault(seen.path, _File()).see(seen, seen.weight * 2.0 ** (before / _HALF_LIFE))
    best = sorted(files.items(), key=lambda named: (-named[1].worth, named[0]))[:_MOST_FILES]
    return tuple(WorkingFile(path, _names(file.names), is_used=file.is_used, gone=file.gone) for path, file in best)


def _seen(steps: Iterable[Step], root: str) -> Iterator[tuple[Sighting, int]]:
    """Yield the sightings, each with the number of steps before it."""
    made: dict[str | None, Call] = {}
    count = 0
    for step in steps:
        if step.kind == TOOL_CALL:
            made[step.tool_use_id] = read_call(step)
        call = made.get(step.tool_use_id) if step.kind in {TOOL_CALL, TOOL_RESULT} else None
        if (step.agent is None or step.kind == TOOL_CALL) and is_about_work(step, call):
            count += step.kind != TOOL_RESULT
            yield from ((seen, count) for seen in sightings(step, call, root))


def _names(worth: dict[str, float]) -> tuple[str, ...]:
    """Return the names, the most important first; of equals the last by name, whatever the order of a set was."""
    return tuple(sorted(worth, key=lambda name: (worth[name], name), reverse=True))
