"""The order of the folders is the order of dependence: nothing imports upward, and sources and storage do not meet."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "unified_state"
# What each layer may import beside itself; the modules below all (errors, settings, assets, interpreter) are open to
# all.
BELOW_ALL = {"errors", "settings", "setting_table", "assets", "interpreter"}
ALLOWED = {
    "records": set(),
    "rules": {"records"},
    "sources": {"records", "rules"},
    "storage": {"records", "rules"},
    "services": {"records", "rules", "sources", "storage"},
    "interfaces": {"records", "rules", "sources", "storage", "services"},
}


def layer_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported_layers(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "unified_state" else [f"unified_state.{a.name}" for a in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "unified_state" and rest:
                yield rest.split(".")[0]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_imports_upward(path: Path) -> None:
    layer = layer_of(path)
    if layer == "__init__":
        return
    allowed = BELOW_ALL | {"__version__"} if layer in BELOW_ALL else BELOW_ALL | ALLOWED[layer] | {layer, "__version__"}
    assert set(imported_layers(path)) <= allowed
