"""No program is looked up by its bare name: the PATH may have entries that lead into a stranger's repository."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tests.structure.package import expect_none, modules, nodes

STARTERS = {"run", "Popen", "call", "check_call", "check_output", "posix_spawn", "posix_spawnp", "system", "popen"}


def bare_names(tree: ast.AST) -> Iterator[int]:
    """The lines where a program is looked up, or started by a name that is no absolute path."""
    for node in nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        first = node.args[0] if node.args else None
        if name == "run" and not isinstance(first, ast.List):  # SQL, not a program
            continue
        if isinstance(first, ast.List) and first.elts:
            first = first.elts[0]
        is_bare = isinstance(first, ast.Constant) and isinstance(first.value, str) and not os.path.isabs(first.value)
        if name in ("which", "find_library") or (name in STARTERS and is_bare):
            yield node.lineno


def test_programs_are_started_by_absolute_paths() -> None:
    expect_none(f"{place}:{line}" for place, module in modules().items() for line in bare_names(module.tree))


def test_the_check_finds_what_it_looks_for() -> None:
    source = "shutil.which('git')\nsubprocess.run(['git', '--version'])\nos.system('ls')\nrun(['/bin/sh', '-c', 'x'])"
    assert list(bare_names(ast.parse(source))) == [1, 2, 3]
