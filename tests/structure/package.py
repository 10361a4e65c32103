"""The modules of the package as the tests of its structure see them: where they are, what they import, their code."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "unified_state"


@dataclass(frozen=True)
class Module:
    """A module: `place` is its path in the package without `.py`; a package's own module is named as its folder."""

    place: str
    text: str
    tree: ast.Module
    is_package: bool

    @property
    def folder(self) -> str:
        return self.place if self.is_package else self.place.rpartition("/")[0]


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a tree, which many tests look through."""
    return tuple(ast.walk(tree))


def expect_none(offenders: Iterable[object]) -> None:
    """Fail with a line for each offender; pytest itself would show only some."""
    lines = list(map(str, offenders))
    assert not lines, "\n" + "\n".join(lines)


def dotted(node: ast.expr) -> str:
    """The name of what is called, as `os.path.join`; of a method of anything else `.join`."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@cache
def modules() -> dict[str, Module]:
    """All modules by their place; that of the package itself is `__init__`."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        is_package = path.name == "__init__.py"
        place = (path.parent if is_package else path.with_suffix("")).relative_to(PACKAGE).as_posix()
        place = "__init__" if place == "." else place
        found[place] = Module(place, text, ast.parse(text), is_package and place != "__init__")
    return found


def imported(module: Module) -> Iterator[str]:
    """The dotted names of all that a module imports, wherever it does: lazily and for types alone too."""
    for node in nodes(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(filter(None, [_parent(module, node.level), node.module]))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _parent(module: Module, level: int) -> str:
    """The package that a relative import starts from; empty for an absolute one."""
    if not level:
        return ""
    parts = ["unified_state", *filter(None, module.folder.split("/"))]
    return ".".join(parts[: len(parts) - level + 1])


@cache
def arrows() -> dict[str, frozenset[str]]:
    """The modules of the package that each module imports."""
    return {
        place: frozenset(target for name in imported(module) if (target := _place(name)) and target != place)
        for place, module in modules().items()
    }


def _place(name: str) -> str | None:
    """The module that a dotted name lies in; None for one of another package."""
    top, *parts = name.split(".")
    if top != "unified_state":
        return None
    while parts and "/".join(parts) not in modules():
        parts.pop()
    return "/".join(parts) or "__init__"


def circle() -> list[str]:
    """Modules that import each other, directly or through others; none where nothing does."""
    try:
        TopologicalSorter(arrows()).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
