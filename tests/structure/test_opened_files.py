"""One function opens files for reading: a named pipe in a stranger's repository must not block a hook."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.structure.package import dotted, expect_none, modules, nodes

# What is opened elsewhere: none of it may be a file that somebody else put there.
ALLOWED = {
    "lib/read_files": "the one place: it opens without waiting, and only regular files",
    "lib/files": "a folder, which is opened to sync it",
    "ledger/gate": "the terminal",
}
FUNCTIONS = {"open", "os.open", "io.open", "io.FileIO", "FileIO", "np.memmap", "fdopen", "os.fdopen"}
METHODS = {"read_text", "read_bytes"}
WRITING = {"w", "wb", "a", "ab", "xb", "r+b"}
WRITING_FLAGS = {"O_WRONLY", "O_CREAT"}


def opened(tree: ast.AST) -> Iterator[int]:
    """The lines in which a file is opened, unless it is opened to be written."""
    for node in nodes(tree):
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            is_method = isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
            if (name in FUNCTIONS or is_method or name.startswith("shutil.copy")) and not _writes(node):
                yield node.lineno


def _writes(call: ast.Call) -> bool:
    values = {one.value for one in call.args if isinstance(one, ast.Constant)}
    names = {getattr(one, "attr", "") for argument in call.args for one in ast.walk(argument)}
    return bool(values & WRITING or names & WRITING_FLAGS) or dotted(call.func) == "shutil.copyfileobj"


def test_one_function_opens_all_files_that_are_read() -> None:
    expect_none(
        f"{place}:{line} opens a file; use open_regular or read_regular of lib/read_files"
        for place, module in modules().items()
        for line in opened(module.tree)
        if place not in ALLOWED
    )


def test_each_exception_is_still_needed() -> None:
    unneeded = [place for place in ALLOWED if not list(opened(modules()[place].tree))]
    expect_none(unneeded)


def test_the_check_finds_what_it_looks_for() -> None:
    source = 'open(p)\nopen(p, "rb")\nPath(p).read_text()\nos.open(p, os.O_RDONLY)\nopen(p, "wb")\nserver.open()'
    assert list(opened(ast.parse(source))) == [1, 2, 3, 4]
