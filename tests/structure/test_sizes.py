"""Rooms one can live in: functions up to 40 lines, files up to 250, classes up to 12 public methods. No exceptions
list.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "unified_state"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FUNCTION, LONGEST_FILE, MOST_METHODS = 40, 250, 12


def relative(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_file_is_no_longer_than_250_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_function_is_no_longer_than_40_lines(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    long = {
        node.name: node.end_lineno - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.end_lineno
        and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
    }
    assert long == {}


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_class_has_no_more_than_12_public_methods(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    large = {
        node.name: len(methods)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and len(methods := [m for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")])
        > MOST_METHODS
    }
    assert large == {}


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_no_module_is_a_room_for_everything(path: Path) -> None:
    assert path.stem not in {"utils", "helpers", "common", "base", "misc", "util"}
