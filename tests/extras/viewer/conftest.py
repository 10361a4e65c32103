"""A project with a session, a compaction and items in it, and a browser to look at its pages."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.builders import SESSION
from tests.chromium import OPTIONS, find_chromium
from tests.passwd import set_home

from .viewing import Viewer, fill, viewing

Open = Callable[..., Page]
expect.set_options(timeout=30_000)  # milliseconds


@pytest.fixture
def told(repository: Path, tmp_path: Path) -> Path:
    """A repository with a recorded session."""
    fill(repository, tmp_path / "t" / f"{SESSION}.jsonl")
    return repository


@pytest.fixture(scope="module")
def seen(committed: Path, homes: Iterator[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """A viewer of such a repository, which tests only look at."""
    home, folder = next(homes), tmp_path_factory.mktemp("seen")
    home.mkdir(mode=0o700)
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(home))
            set_home(home)
            told = shutil.copytree(committed, folder / "repository")
            fill(told, folder / "t" / f"{SESSION}.jsonl")
            viewer = stack.enter_context(viewing(told))
        yield viewer


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless browser. Not one for all tests of a worker: while it runs, it has the thread's event loop."""
    program = find_chromium()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        yield found
        found.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens a viewer in a fresh window: its first page. A script error or a refused resource fails the test."""
    problems: list[str] = []
    # A live page whose viewer has ended, and the page that says why nothing was changed.
    expected = ("ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_REFUSED", "a status of 400 (Bad Request)")
    contexts = []

    def open_page(viewer: Viewer, **options: object) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.goto(viewer.address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [problem for problem in problems if not problem.endswith(expected)] == []
