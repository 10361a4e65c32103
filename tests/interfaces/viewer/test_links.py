"""While a viewer runs, commands print refs as links to its pages on a terminal. A link never has the token."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.cli.screen import on_screen, run

from .viewing import viewing


def link(base: str, ref: str) -> str:
    """A ref as a terminal gets it that links it."""
    return f"\033]8;;{base}/{ref}\033\\{ref}\033]8;;\033\\"


def test_search_and_show_link_their_refs_while_a_viewer_runs(told: Path) -> None:
    with viewing(told) as viewer:
        shown = on_screen("search", "clock", cwd=told)
        assert link(viewer.base, "D2") in shown
        assert viewer.token not in shown
        assert link(viewer.base, "K1") in on_screen("compactions", cwd=told)
        assert link(viewer.base, "D2") in on_screen("show", "D2", cwd=told)
        assert f"--- {link(viewer.base, 'S1')}" in on_screen("show", "T1", cwd=told)
        assert link(viewer.base, "S1") in on_screen("show", "S1", cwd=told)
        assert "]8;;" not in run("search", "clock", cwd=told).stdout
        assert "]8;;" not in on_screen("search", "clock", cwd=told, variables={"CLAUDECODE": "1"})
    assert "]8;;" not in on_screen("search", "clock", cwd=told)


def test_the_status_tells_a_person_where_the_pages_are(told: Path) -> None:
    with viewing(told) as viewer:
        shown = on_screen("status", cwd=told)
        assert f"{viewer.base}/ while `view` runs" in shown
        assert viewer.token not in shown
        assert viewer.base not in run("status", cwd=told).stdout
        assert viewer.base not in on_screen("status", cwd=told, variables={"CLAUDECODE": "1"})
    assert "while `view` runs" not in on_screen("status", cwd=told)
