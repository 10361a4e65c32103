"""Limits of size, and names that say nothing. There is no list of exceptions; each test lists every offender."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.structure.package import expect_none, modules

LONGEST_FUNCTION, LONGEST_FILE, MOST_METHODS = 40, 400, 12
MEANINGLESS = {"utils", "helpers", "common", "base", "misc", "util"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    for place, module in modules().items():
        yield from ((place, node) for node in ast.walk(module.tree) if isinstance(node, Function))


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for place, module in modules().items():
        yield from ((place, node) for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef))


def length(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def public_methods(node: ast.ClassDef) -> int:
    return sum(isinstance(one, Function) and not one.name.startswith("_") for one in node.body)


def test_a_file_is_no_longer_than_400_lines() -> None:
    lengths = {place: len(module.text.splitlines()) for place, module in modules().items()}
    expect_none(f"{place}: {number}" for place, number in lengths.items() if number > LONGEST_FILE)


def test_a_function_is_no_longer_than_40_lines() -> None:
    expect_none(f"{place}:{node.lineno} {node.name}" for place, node in functions() if length(node) > LONGEST_FUNCTION)


def test_a_class_has_no_more_than_12_public_methods() -> None:
    expect_none(
        f"{place}:{node.lineno} {node.name}" for place, node in classes() if public_methods(node) > MOST_METHODS
    )


def test_no_folder_or_file_has_a_name_for_everything() -> None:
    expect_none(place for place in modules() if MEANINGLESS.intersection(place.split("/")))
