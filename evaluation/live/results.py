"""A folder of results: the pre-registration, what was spent, and a folder for each finished run.

Invariant: a folder in `runs/` is whole. A run is written beside it and renamed when it has ended.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Results:
    """The folder `root`."""

    def __init__(self, root: Path) -> None:
        self.root, self.runs = root, root / "runs"
        self.spending = root / "spending.jsonl"
        self.registration = root / "preregistration.json"

    def register(self, plan: Json) -> bool:
        """Write the pre-registration, or compare it with the one that is there; whether it is new.

        Raise ValueError if the folder was registered for something else.
        """
        if self.registration.exists():
            before = json.loads(self.registration.read_text(encoding="utf-8"))
            if changed := [name for name in plan if name != "registered_at" and before.get(name) != plan[name]]:
                message = f"{self.registration} was written for other {', '.join(changed)}; name another folder"
                raise ValueError(message)
            return False
        self.runs.mkdir(parents=True, exist_ok=True)
        _write(self.registration, plan)
        return True

    def has(self, name: str) -> bool:
        """Whether a run is finished."""
        return (self.runs / name / "result.json").exists()

    @contextmanager
    def run(self, name: str) -> Iterator[Path]:
        """A folder for a run, which becomes a finished one when the block ends well, else is removed."""
        folder = self.root / ".unfinished" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            yield folder
            folder.rename(self.runs / name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def all(self) -> list[Json]:
        """The results of all finished runs."""
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(self.runs.glob("*/result.json"))]


def write_result(folder: Path, result: Json) -> None:
    """Write a run's result."""
    _write(folder / "result.json", result)


def _write(path: Path, value: Json) -> None:
    new = path.with_name(f"{path.name}.new")
    with new.open("w", encoding="utf-8") as file:
        file.write(json.dumps(value, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
