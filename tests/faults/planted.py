"""Planted faults: small changes of the package that each break one promise, so that a test has to fail.

A fault replaces one passage of a file. The TOML files in this folder hold them, one file for each category.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class NotApplicableError(Exception):
    """A fault does not fit the code any more."""


class Fault(NamedTuple):
    """A fault: the promise that it breaks, the passage `old` of `file` that becomes `new`, and the tests that should
    find it, as paths or node ids.
    """

    name: str
    promise: str
    file: str
    old: str
    new: str
    tests: list[str]
    category: str

    def planted_in(self, code: str) -> str:
        """Return the code of the file with the fault. Raises NotApplicableError unless the passage stands in it exactly
        once.
        """
        count = code.count(self.old)
        if count != 1:
            message = f"{self.name}: the old text stands {count} times in {self.file}, and not once"
            raise NotApplicableError(message)
        return code.replace(self.old, self.new)


def read_faults() -> list[Fault]:
    """Return all faults, by category."""
    return [
        Fault(**row, category=path.stem)
        for path in sorted(Path(__file__).parent.glob("*.toml"))
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
    ]
