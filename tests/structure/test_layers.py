"""Who may import whom: as `may_import.txt` says, never in a circle, and nothing impure in a room of rules.

All imports count: those at the top, those in functions, and those for types alone. Each test lists every offender.
"""

from __future__ import annotations

import ast
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

from tests.structure.package import arrows, circle, expect_none, imported, modules, nodes

MAY_IMPORT = Path(__file__).parent / "may_import.txt"
MOST_FILES = 15
# Of other packages, what computes and does nothing else.
PURE = {
    *(
        "__future__",
        "array",
        "binascii",
        "bisect",
        "collections",
        "dataclasses",
        "difflib",
        "enum",
        "functools",
        "hashlib",
        "heapq",
        "itertools",
    ),
    *("json", "math", "operator", "re", "string", "struct", "tiktoken", "typing", "unicodedata", "zlib"),
}
IMPURE_CALLS = {"open", "input", "print", "exec", "eval"}


def table() -> dict[str, set[str]]:
    """The folders that each folder may import from."""
    text = MAY_IMPORT.read_text(encoding="utf-8")
    lines = [line.partition(":") for line in text.splitlines() if line and not line.startswith("#")]
    return {folder.strip(): set(allowed.split()) for folder, _, allowed in lines}


def is_within(place: str, pattern: str) -> bool:
    """Whether a module is, or lies in, what a pattern names; `*` is any one folder."""
    parts, wanted = place.split("/"), pattern.split("/")
    return len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))


def line_of(place: str, folders: set[str]) -> str | None:
    """The line that counts for a module: that with the longest path."""
    fitting = [folder for folder in folders if folder != "*" and is_within(place, folder)]
    return max(fitting, key=lambda folder: (folder.count("/"), len(folder)), default=None)


def test_every_import_is_allowed() -> None:
    allowed = table()
    everywhere = allowed.get("*", set())
    wrong = []
    for place, targets in arrows().items():
        line = line_of(place, set(allowed))
        own = {"/".join(place.split("/")[: line.count("/") + 1])} if line else set()
        open_to_it = everywhere | (allowed[line] | own if line else set())
        wrong += [
            f"{place} imports {target}"
            for target in sorted(targets)
            if not any(is_within(target, folder) for folder in open_to_it)
        ]
    expect_none(wrong)


def test_the_core_imports_no_extra_and_no_extra_another() -> None:
    extras = {place: "/".join(place.split("/")[:2]) for place in modules() if place.startswith("extras/")}
    expect_none(
        f"{place} imports {target}"
        for place, targets in arrows().items()
        for target in sorted(targets)
        if extras.get(target, extras.get(place)) != extras.get(place)
    )


def test_every_folder_has_a_line_in_the_table_and_every_line_a_folder() -> None:
    allowed = table()
    named = set(allowed).union(*allowed.values()) - {"*"}
    expect_none(place for place in modules() if line_of(place, set(allowed)) is None)
    expect_none(name for name in sorted(named) if not any(is_within(place, name) for place in modules()))


def test_a_line_names_only_folders_of_lines_above_it() -> None:
    allowed = {folder: names for folder, names in table().items() if "*" not in folder}
    lines = list(allowed)
    expect_none(
        f"{folder} names {name}, which is not above it"
        for folder, names in allowed.items()
        for name in sorted(names)
        if name in lines and lines.index(name) >= lines.index(folder)
    )


def test_no_modules_import_each_other_in_a_circle() -> None:
    expect_none(circle())


def test_a_folder_has_no_more_than_15_files() -> None:
    counted = Counter(module.folder for module in modules().values() if not module.is_package)
    full = {folder: number for folder, number in counted.items() if number > MOST_FILES}
    expect_none(f"{folder}: {number}" for folder, number in full.items())


def test_a_room_of_rules_is_pure() -> None:
    impure = []
    for place, module in modules().items():
        if "rules" not in module.folder.split("/"):
            continue
        names = {name.partition(".")[0] for name in imported(module)} - {"unified_state"} - PURE
        impure += [f"{place} imports {name}" for name in sorted(names)]
        impure += [
            f"{place}:{node.lineno} calls {node.func.id}"
            for node in nodes(module.tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS
        ]
    expect_none(impure)
