"""Large sessions, lines of megabytes, shortened outputs, other projects, and the end of an unused viewer."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect

from tests.amount import amount
from tests.builders import SESSION, answer, call, prompt, result, write_transcript
from tests.interfaces.cli.screen import person
from tests.processes import ROOT

from .conftest import Open
from .viewing import HOSTILE, fetch, run, viewing

TURNS = amount(12_500, 500)  # of four steps


def test_a_session_of_50_000_steps_is_paged_by_need(repository: Path, tmp_path: Path, opened: Open) -> None:
    entries = []
    for number in range(0, TURNS * 4, 4):
        entries += [
            prompt(number, f"Prompt {number // 4}"),
            answer(number + 1, "I run it.", call(f"c{number}", "Bash", command=f"make part-{number // 4}")),
            result(number + 2, f"c{number}", "ok"),
        ]
    run(repository, "import", str(write_transcript(tmp_path / "t" / f"{SESSION}.jsonl", *entries)))
    with viewing(repository) as viewer:
        page = opened(viewer)
        page.goto(f"{viewer.base}/session/1")
        assert page.locator("article.turn").count() == 20
        assert f"Prompt {TURNS - 1}" in page.locator("article.turn").last.inner_text()
        page.get_by_role("link", name="Earlier turns").click()
        page.locator("article.turn", has_text=f"Prompt {TURNS - 40}").wait_for()
        expect(page.locator("article.turn")).to_have_count(40)
        page.goto(f"{viewer.base}/session/1?from=1")
        page.locator("article.turn", has_text="Prompt 0").first.wait_for()
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        page.locator("article.turn", has_text="Prompt 39").wait_for()
        numbers = page.locator("article.turn").evaluate_all("(all) => all.map((one) => Number(one.id.slice(1)))")
        assert numbers == sorted(set(numbers))


def test_lines_of_megabytes_are_cut_and_the_whole_is_a_page_of_its_own(
    repository: Path, tmp_path: Path, opened: Open
) -> None:
    long = f"{HOSTILE} {'x' * 5_000_000} the end"
    path = write_transcript(
        tmp_path / "t" / f"{SESSION}.jsonl",
        prompt(1, f"Read it {HOSTILE}"),
        answer(2, call("c1", "Bash", command=f"cat long {HOSTILE}")),
        result(3, "c1", long),
    )
    run(repository, "import", str(path))
    with viewing(repository) as viewer:
        status, _, body = viewer.get("/session/1")
        assert (status, len(body) < 40_000) == (200, True)
        page = opened(viewer)
        page.goto(f"{viewer.base}/session/1")
        page.locator("details.call summary").click()
        page.get_by_role("link", name="the whole text").last.click()
        expect(page).to_have_title(re.compile("^S3"))
        assert page.locator("pre.whole").inner_text().startswith("<script>document.title")


def test_other_projects_are_read_only_and_on_request(told: Path, tmp_path: Path, opened: Open) -> None:
    other = tmp_path / "other"
    other.mkdir()
    session = tmp_path / "o" / "0bad0000-0000-4000-8000-000000000000.jsonl"
    write_transcript(session, prompt(1, "In the other project", cwd=str(other)), answer(2, "Yes."))
    run(other, "import", str(session))
    run(other, "decision", "add", "Elsewhere", "--rationale", "x")
    with viewing(told) as viewer:
        assert "/p/" not in viewer.get("/")[2]
    with viewing(told, "--all-projects") as viewer:
        page = opened(viewer)
        page.locator(".projects a", has_text="other").click()
        page.locator(".sessions .title", has_text="In the other project").click()
        expect(page.locator("article.turn")).to_have_count(1)
        page.locator(".top a", has_text="State").click()
        assert "Elsewhere" in page.locator(".items").first.inner_text()
        assert page.locator("form[method=post]").count() == 0
        base = page.url.removesuffix("/state")
        status, _, body = fetch(f"{base}/change/drop", {}, b"ref=D1")
        assert (status, "is another project" in body) == (400, True)


def serve(folder: Path, options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a viewer of a project until it ends, with these options of `serve_viewer`."""
    code = (
        "import os, signal, sys\n"
        "from unified_state.extras.viewer.open_projects import open_projects\n"
        "from unified_state.extras.viewer.serve_viewer import serve_viewer\n"
        "from unified_state.project.workspace.workspace import open_workspace\n"
        "projects = open_projects(open_workspace(sys.argv[1], None, report=print), '/secret', every=False)\n"
        f"serve_viewer(projects, port=0, may_change=False, {options})\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT, env={**person(), **variables}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_an_unused_viewer_ends_by_itself(told: Path) -> None:
    done = serve(told, "opens_browser=False, say=print, unused_seconds=0.2")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_ends_it_well_at_any_moment(told: Path, tmp_path: Path, home: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nkill -INT $PPID\n", encoding="utf-8")
    browser.chmod(0o755)
    interrupt = "os.kill(os.getpid(), signal.SIGINT)"
    timer = "signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT)), signal.setitimer(0, {})"
    while_it_starts = [
        f"opens_browser=False, say=lambda _: ({timer.format(n / 200 + 0.001)})" for n in range(0, 20, amount(1, 4))
    ]
    for options in (
        f"opens_browser=False, say=lambda _: {interrupt}",
        "opens_browser=True, say=print",
        *while_it_starts,
    ):
        done = serve(told, options, BROWSER=str(browser), DISPLAY=":0")
        assert (done.returncode, done.stderr) == (0, ""), options


def test_without_the_extra_the_command_says_how_to_get_it(told: Path) -> None:
    code = "import sys; sys.modules['jinja2'] = None; from unified_state.interfaces.cli.main import main; main()"
    for arguments in (["view", "--no-browser"], ["view", "--export", "x.html"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=told, env={**person(), "PYTHONPATH": str(ROOT)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode != 0
        assert "(jinja2 is missing)" in done.stderr
        assert "'.[viewer]'" in done.stderr
