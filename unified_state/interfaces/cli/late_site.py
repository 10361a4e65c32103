"""Load `site` late, in a process that was started without it (`-S`).

`site` finds the environment's packages, for 2 ms. Commands that import none do without.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec


def load_site() -> None:
    """Do what the interpreter does at its start without `-S`."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _LateSite)]
    import site

    site.main()


def load_site_when_needed() -> None:
    """Load `site` when a module is imported that no finder knows."""
    sys.meta_path.append(_LateSite())


class _LateSite:
    """The last finder of modules: it loads `site`, and asks the others again."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Return how to load a module, or None if it is in no package of the environment."""
        if path is not None:
            return None  # a part of a package that was found
        load_site()
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path)  # type: ignore[arg-type]
        return next(filter(None, found), None)
