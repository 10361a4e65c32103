"""The same sessions and compactions in a terminal."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from textual.widgets import DataTable, Static, Tree

from tests.interfaces.cli.screen import run as run_command
from unified_state.interfaces.viewer.open_projects import open_projects
from unified_state.interfaces.viewer.terminal_view import TerminalView
from unified_state.memory.workspace.workspace import open_workspace


def test_a_session_opens_as_a_tree_and_a_compaction_as_a_table(told: Path) -> None:
    async def look() -> None:
        view = TerminalView(open_projects(open_workspace(str(told), None, report=lambda _line: None), every=False)[""])
        async with view.run_test(size=(160, 50)) as pilot:
            table = view.query_one(DataTable)
            assert [str(cell) for cell in table.get_row_at(0)][1:4] == ["Add a token bucket", "Claude Code", "3"]
            await pilot.press("enter")
            await pilot.pause()
            tree = view.screen.query_one(Tree)
            labels = [str(node.label) for node in tree.root.children]
            assert any("Add a token bucket" in label for label in labels)
            (at,) = [place for place, label in enumerate(labels) if label.startswith("✂ K1")]
            tree.select_node(tree.root.children[at])
            await pilot.pause()
            await pilot.pause()
            rows = view.screen.query_one(DataTable)
            told_rows = {
                str(cells[0]): list(map(str, cells[1:])) for cells in map(rows.get_row_at, range(rows.row_count))
            }
            assert {"D1", "D2", "C1", "Q1"} <= told_rows.keys()
            assert told_rows["D2"][1:] == ["✕ missing", "the state, arrived"]
            assert "token bucket" in str(view.screen.query_one("#summary", Static).render())
            assert "unified-state gave 4 back" in str(view.screen.query_one("#headline", Static).render())
            assert any(
                "The clock is Redis TIME" in str(one.render()) for one in view.screen.query(".restored").results(Static)
            )
            await pilot.press("escape", "escape")
            await pilot.pause()
            assert view.query_one(DataTable).row_count == 1

    with ThreadPoolExecutor(1) as thread:  # the browser of other tests has the event loop of this one
        thread.submit(lambda: asyncio.run(look())).result()


def test_without_a_terminal_it_is_one_clear_line(told: Path) -> None:
    done = run_command("view", "--terminal", cwd=told)
    assert (done.returncode, "this is no terminal" in done.stderr) == (2, True), done
