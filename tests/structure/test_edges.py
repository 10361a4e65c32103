"""Where the world comes in: the environment through one module, and errors of every kind only at an edge."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.structure.package import Module, dotted, expect_none, modules, nodes

OF_THE_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
ALL = {"Exception", "BaseException", "BaseExceptionGroup", "ExceptionGroup"}
# These end an error: each reports it, or hands it to the waiting thread.
EDGES = {
    "extension",
    "interfaces/tool_hook",
    "interfaces/statusline",
    "interfaces/cli/main",
    "interfaces/mcp/server_project",
    "extras/team/search_team",
    "capture/derive",
}


def uses_of_the_environment(module: Module) -> Iterator[int]:
    """The lines that read or change the environment of the process."""
    for node in nodes(module.tree):
        if isinstance(node, ast.Attribute) and node.attr in OF_THE_ENVIRONMENT and dotted(node.value) == "os":
            yield node.lineno
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            yield from (node.lineno for alias in node.names if alias.name in OF_THE_ENVIRONMENT)


def handlers(module: Module) -> Iterator[ast.ExceptHandler]:
    return (node for node in nodes(module.tree) if isinstance(node, ast.ExceptHandler))


def catches_all(handler: ast.ExceptHandler) -> bool:
    names = {"BaseException"} if handler.type is None else {ast.unparse(node) for node in ast.walk(handler.type)}
    return not ALL.isdisjoint(names)


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether no path leaves a handler but the raise at its end."""
    leaves = ast.Return | ast.Continue | ast.Break
    return isinstance(handler.body[-1], ast.Raise) and not any(isinstance(node, leaves) for node in ast.walk(handler))


def is_silent(handler: ast.ExceptHandler) -> bool:
    return all(isinstance(node, ast.Pass | ast.Continue) for node in handler.body)


def has_comment(module: Module, handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1].end_lineno or handler.lineno
    return any("  # " in line for line in module.text.splitlines()[handler.lineno - 1 : last])


def test_only_the_settings_read_or_change_the_environment() -> None:
    found = {place: list(uses_of_the_environment(module)) for place, module in modules().items()}
    allowed = {"settings", "lib/read_files"}  # the second asks who called `sudo`
    expect_none(f"{place}: {lines}" for place, lines in found.items() if lines and place not in allowed)


def test_what_catches_every_error_raises_again_or_is_an_edge_that_says_why() -> None:
    broad = [
        (place, one, has_comment(module, one))
        for place, module in modules().items()
        for one in handlers(module)
        if catches_all(one)
    ]
    expect_none(
        f"{place}:{one.lineno}"
        for place, one, is_explained in broad
        if not raises_again(one) and not (place in EDGES and is_explained)
    )
    assert {place for place, one, _ in broad if not raises_again(one)} == EDGES


def test_what_turns_every_error_into_one_of_ours_names_the_library_that_raises_it() -> None:
    expect_none(
        f"{place}:{one.lineno}"
        for place, module in modules().items()
        for one in handlers(module)
        if catches_all(one)
        and isinstance(one.body[-1], ast.Raise)
        and one.body[-1].exc
        and not has_comment(module, one)
    )


def test_a_handler_that_does_nothing_says_why() -> None:
    expect_none(
        f"{place}:{one.lineno}"
        for place, module in modules().items()
        for one in handlers(module)
        if is_silent(one) and not has_comment(module, one)
    )
