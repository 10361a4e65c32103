"""Limits of size, and names that say nothing. There is no list of exceptions; each test lists every offender."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.structure.package import expect_none, modules, nodes

LONGEST_FUNCTION, LONGEST_FILE, MOST_METHODS, MOST_FOLDERS = 40, 400, 12, 16
MEANINGLESS = {"utils", "helpers", "common", "base", "misc", "util"}
NOUNS_IN_ING = {"meaning", "string"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    for place, module in modules().items():
        yield from ((place, node) for node in nodes(module.tree) if isinstance(node, Function))


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for place, module in modules().items():
        yield from ((place, node) for node in nodes(module.tree) if isinstance(node, ast.ClassDef))


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


def test_the_package_shows_at_most_16_folders() -> None:
    folders = sorted({place.partition("/")[0] for place in modules() if "/" in place})
    assert len(folders) <= MOST_FOLDERS, folders


def test_no_folder_or_file_has_a_name_for_everything() -> None:
    expect_none(place for place in modules() if MEANINGLESS.intersection(place.split("/")))


def names() -> dict[str, list[str]]:
    """The places of each module by its own name; packages are named by their folders."""
    found: dict[str, list[str]] = {}
    for place, module in modules().items():
        if not module.is_package:
            found.setdefault(place.rpartition("/")[2], []).append(place)
    return found


def test_no_two_modules_have_the_same_name() -> None:
    expect_none(" ".join(places) for places in names().values() if len(places) > 1)


def test_no_module_is_named_by_a_gerund() -> None:
    last_words = {name: name.rpartition("_")[2] for name in names()}
    expect_none(name for name, word in last_words.items() if word.endswith("ing") and word not in NOUNS_IN_ING)
