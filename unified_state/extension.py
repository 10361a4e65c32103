"""Extras: what adds to the core from a folder or a package of its own. The core imports none of them.

An extra is a module. What it defines under these names takes part; a text `MODULE:NAME` is loaded when it is used:

* `COMMANDS`: rows of the command line, by name: the title of a group, `COMMANDS` as a module of the core has it, the
  help. `EXAMPLES`: what the help shows, by name.
* `TOOLS`: a class, called with a `Project`, whose public methods are tools of the MCP server.
* `FORMATS`: names of modules, each a format of files that `import` takes, as `import_formats.py` says.
* `CHECKS`: a function that yields checks for `doctor`.
* `PAGES`: the titles of its pages of documentation, by address.

Its settings are the table of its name in the user's own `config.toml`: `settings.tables[NAME]`.

A built-in extra may also define what the core asks for by `hook`. Others are found by entry points of the group
`unified_state.extras`. A hook of a client never reads these, because that takes milliseconds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from unified_state.errors import MissingExtraError
from unified_state.lib.package import package_path

GROUP = "unified_state.extras"
# In the order in which `hook` asks them: first those that hooks of clients need.
BUILT_IN = ("lean", "team", "vectors", "blame", "importers", "handover", "viewer", "agent_sdk")


def hook(name: str) -> Any:
    """Return what a built-in extra defines under a name, or None. Extras behind it are not loaded."""
    return next((loaded(getattr(extra, name)) for extra in _built_in() if hasattr(extra, name)), None)


def need(name: str) -> Any:
    """Return the same. Raises MissingExtraError in place of None."""
    found = hook(name)
    if found is None:
        message = "this copy of unified-state was made without the extra for that"
        raise MissingExtraError(message, "install the whole package")
    return found


def parts(name: str, *, of_all: bool = True) -> Iterator[Any]:
    """Yield what each extra defines under a name, with `of_all` those of other packages too."""
    for extra in (*_built_in(), *(_others() if of_all else ())):
        if hasattr(extra, name):
            yield loaded(getattr(extra, name))


def loaded(value: Any) -> Any:
    """Return a value, or what a text `MODULE:NAME` names."""
    if not isinstance(value, str):
        return value
    module, _, name = value.partition(":")
    return getattr(import_module(module), name)


def _built_in() -> Iterator[ModuleType]:
    """Yield the extras whose folders are there."""
    for name in BUILT_IN:
        if os.path.isdir(package_path("extras", name)):
            yield import_module(f"unified_state.extras.{name}")


def names() -> set[str]:
    """Return the names of all extras. Those of other packages are not loaded."""
    from importlib.metadata import entry_points

    return {*BUILT_IN, *entry_points(group=GROUP).names}


@cache
def _others() -> tuple[ModuleType, ...]:
    """Return the extras of other packages. One that fails is left out, and reported on stderr."""
    from importlib.metadata import entry_points

    found = []
    for point in entry_points(group=GROUP):
        try:
            found.append(point.load())
        except Exception as error:  # noqa: BLE001  # the edge to the code of strangers
            sys.stderr.write(f"unified-state: the extra {point.name} is left out: {type(error).__name__}: {error}\n")
    return tuple(found)
