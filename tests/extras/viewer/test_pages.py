"""The pages in a real browser: what a person sees of sessions, compactions, the state and a search."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.builders import SESSION, answer, append, boundary, call, prompt, result, summary, write_transcript
from tests.chromium import axe_script
from unified_state.model.constraint import USER_SAID
from unified_state.model.item import CONSTRAINT
from unified_state.project.workspace.workspace import open_workspace
from unified_state.state_file.writer.record_state import add_item

from .conftest import Open
from .viewing import HOSTILE, Viewer, hook, run, viewing

ADDRESSES = ("/", "/session/1", "/K1", "/state", "/state?status=all", "/D1", "/Q1", "/search?q=burst", "/step/3")


def transcript_of(folder: Path) -> Path:
    """The transcript that `told` was filled from."""
    return folder.parent / "t" / f"{SESSION}.jsonl"


def test_the_home_page_lists_sessions_with_prompt_turns_and_compactions(seen: Viewer, opened: Open) -> None:
    page = opened(seen)
    line = page.locator(".sessions li").inner_text()
    assert "Add a token bucket" in line
    assert "Claude Code · 3 turns" in line
    assert "1 compaction" in line
    assert "nothing waits for you" in page.locator(".facts").inner_text()
    page.locator(".sessions .title").click()
    expect(page.locator("h1")).to_have_text("Add a token bucket")


def test_a_session_shows_turns_calls_subagents_compactions_and_what_hooks_told(seen: Viewer, opened: Open) -> None:
    page = opened(seen)
    page.goto(f"{seen.base}/session/1")
    assert page.locator("article.turn").count() == 3
    call = page.locator("details.call", has_text="make test")
    assert "Bash make test ✕ failed" in " ".join(call.locator("summary").inner_text().split())
    call.locator("summary").click()
    assert "FAILED test_burst" in call.inner_text()
    assert page.locator(".compaction").inner_text().startswith("✂ K1 compaction, auto")
    assert page.locator(".branch-of summary").inner_text().startswith("⑂ subagent a1: Find the callers")
    told_lines = page.locator(".told summary").all_inner_texts()
    assert any("told the model the state" in line and "arrived" in line for line in told_lines)


def test_each_restore_stands_once_below_its_compaction(told: Path, opened: Open) -> None:
    with viewing(told) as viewer:
        page = opened(viewer)
        page.goto(f"{viewer.base}/session/1")
        kinds = "(all) => all.map((one) => one.className.split(' ')[0])"
        before = page.locator("#turns > .compaction, #turns > .told").evaluate_all(kinds)
        assert before == ["compaction", "told"]
        path = transcript_of(told)
        append(path, prompt(30, "One more thing"))
        hook(told, path, "Stop")
        page.locator("article.turn", has_text="One more thing").wait_for()
        assert page.locator("#turns > .compaction, #turns > .told").evaluate_all(kinds) == before


def test_an_edit_is_a_difference_and_an_answer_is_read_as_markdown(
    repository: Path, tmp_path: Path, opened: Open
) -> None:
    said = (
        "## Plan\n\n1. **First** the `lock`\n   of the bucket\n- then _all_ [docs](https://example.org/x)"
        f" {HOSTILE}\n\n"
        "| a | b |\n|---|---|\n| `1` | 2 |\n\n> quoted\n\n"
        "```py\nsnake_case_name = '**no**'\n```\na_b_c [x](javascript:alert(1))"
    )
    edit = {"file_path": "/p/a.py", "old_string": "one\ntwo\nthree", "new_string": f"one\n2 {HOSTILE}\nthree"}
    path = write_transcript(
        tmp_path / "t" / f"{SESSION}.jsonl",
        prompt(1, "Go"),
        answer(2, said, call("c1", "Edit", **edit), call("c2", "Write", file_path="/p/b.py", content="new\n")),
    )
    run(repository, "import", str(path))
    with viewing(repository) as viewer:
        page = opened(viewer)
        page.goto(f"{viewer.base}/session/1")
        for fold in page.locator("details.call").all():
            fold.locator("summary").click()
        assert page.locator(".diff").first.locator("del").all_inner_texts() == ["-two"]
        assert page.locator(".diff").first.locator("ins").inner_text().startswith("+2 <script>")
        assert page.locator(".diff").last.inner_text() == "+new"
        prose = page.locator(".text .prose")
        assert prose.locator("h3").inner_text() == "Plan"
        assert [item.split()[0] for item in prose.locator(".li").all_inner_texts()] == ["1.", "•"]
        assert prose.locator("b").all_inner_texts() == ["First"]
        assert prose.locator("em").all_inner_texts() == ["all"]
        assert prose.locator("td").all_inner_texts() == ["a", "b", "1", "2"]
        assert prose.locator("blockquote").inner_text() == "quoted"
        assert prose.locator("pre").inner_text() == "snake_case_name = '**no**'"
        assert [link.get_attribute("href") for link in prose.locator("a").all()] == ["https://example.org/x"]
        assert page.locator("main script, main img").count() == 0


def test_the_curve_of_the_context_has_the_sizes_that_the_api_reported(
    repository: Path, tmp_path: Path, opened: Open
) -> None:
    sized = [answer(at, "On.") for at in (2, 4, 6)]
    for entry, tokens in zip(sized, (20_000, 60_000, 30_000), strict=True):
        entry["message"].update(id=f"m{tokens}", usage={"input_tokens": tokens - 1, "cache_read_input_tokens": 1})
    path = write_transcript(tmp_path / "t" / f"{SESSION}.jsonl", prompt(1, "Go"), *sized[:2], boundary(5), sized[2])
    run(repository, "import", str(path))
    with viewing(repository) as viewer:
        page = opened(viewer)
        page.goto(f"{viewer.base}/session/1")
        figure = page.locator("figure.curve")
        assert "3 answers, as the API reported it: at most 60\u202f000 tokens" in figure.inner_text()
        heights = figure.locator("rect").evaluate_all("(all) => all.map((one) => one.getAttribute('height'))")
        assert heights == ["33.3", "100.0", "50.0"]
        assert figure.locator("line").get_attribute("x1") == "2.0"
        path.unlink()
        page.reload()
        assert page.locator("figure.curve, a[data-part]").count() == 0


def test_a_compaction_without_hooks_says_what_would_have_come_back(
    repository: Path, tmp_path: Path, opened: Open
) -> None:
    run(repository, "decision", "add", "Recorded long after", "--rationale", "x")
    path = write_transcript(
        tmp_path / "t" / f"{SESSION}.jsonl",
        prompt(1, "Keep the port 47113 free, whatever the proxy asks for"),
        answer(2, "It is free."),
        boundary(7),
        summary(8, "1. Primary Request: the proxy."),
        prompt(9, "Only asked afterwards"),
    )
    run(repository, "import", str(path))
    with viewing(repository) as viewer:
        page = opened(viewer)
        page.goto(f"{viewer.base}/K1")
        given = page.locator("section[aria-labelledby=restored]").inner_text()
        assert "no hook ran after this compaction" in given
        would = given.partition("What would have come back")[2]
        assert "port 47113" in would
        assert "Only asked afterwards" not in would
        assert "Recorded long after" not in would


def test_in_force_is_only_what_is_in_force(told: Path) -> None:
    run(told, "drop", "D2", "--why", "another clock")
    with viewing(told) as viewer:
        for status, names in (("", ["D1"]), ("?status=all", ["D2", "D1"])):
            section = viewer.get(f"/state{status}")[2].partition(">Decisions")[2].partition("</section>")[0]
            assert re.findall(r'class="ref" href="[^"]*/(D\d+)"', section) == names
            assert section.count("✓ holds") == 1
        assert "no: it is dismissed" in viewer.get("/D2")[2]


def test_a_compaction_shows_known_kept_and_restored_side_by_side(seen: Viewer, opened: Open) -> None:
    page = opened(seen)
    page.goto(f"{seen.base}/K1")
    rows = {row[0].split()[0]: row for row in (
        [cell.inner_text() for cell in row.locator("td").all()] for row in page.locator(".fates tbody tr").all()
    )}  # fmt: skip
    assert "kept" in rows["D1"][1]
    assert "missing" in rows["D2"][1]
    assert "told again" in rows["D2"][2]
    assert "arrived" in rows["D2"][2]
    assert "Token bucket in Redis" in page.locator("mark").first.inner_text()
    page.locator(".fates tr:has(.source) .verdict").first.click()
    page.locator("article.turn.selected").wait_for()


def test_the_state_shows_validity_origin_and_the_source_of_each_item(seen: Viewer, opened: Open) -> None:
    page = opened(seen)
    page.goto(f"{seen.base}/state")
    told_items = page.locator(".items li").all_inner_texts()
    assert any("Token bucket in Redis" in one and "✓ holds" in one for one in told_items)
    page.locator(".items").get_by_role("link", name="its turn").first.click()
    page.locator("article.turn.selected").wait_for()
    assert seen.get("/source/D999")[0] == 404
    page.goto(f"{seen.base}/state?at=2020-01-01")
    assert page.locator(".items li").count() == 0
    page.goto(f"{seen.base}/D1")
    about = page.locator(".about").inner_text()
    assert "the user said it" in about
    assert "✓ in force" in about


def test_a_search_marks_its_hits_and_shows_its_filters_as_chips(seen: Viewer, opened: Open) -> None:
    page = opened(seen)
    page.locator("[type=search]").first.fill("burst")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?**")
    assert "burst" in page.locator(".hits mark").first.inner_text().lower()
    page.goto(f"{seen.base}/search?q=burst&kind=question")
    assert page.locator(".chip").all_inner_texts() == ["kind: question"]
    assert [line[:2] for line in page.locator(".hits li").all_inner_texts()] == ["Q1"]
    page.goto(f"{seen.base}/search?q=burst&kind=question&since=2020-01-01&session={SESSION}")
    page.locator(".chip", has_text="kind").click()
    page.wait_for_url(f"**/search?q=burst&since=2020-01-01&session={SESSION}")
    assert [chip.partition(":")[0] for chip in page.locator(".chip").all_inner_texts()] == ["since", "session"]
    page.get_by_role("button", name="Search").click()
    page.wait_for_url(f"**session={SESSION}**")


def test_without_words_the_log_tells_what_was_asked_the_newest_first(seen: Viewer, opened: Open) -> None:
    page = opened(seen)
    page.get_by_role("link", name="Log and search").click()
    page.wait_for_url("**/search")
    times = page.locator(".hits time").all_inner_texts()
    assert (len(times) > 1, times) == (True, sorted(times, reverse=True))
    assert {line[:1] for line in page.locator(".hits li").all_inner_texts()} == {"T"}
    page.goto(f"{seen.base}/search?since=2020-01-01&session={SESSION[:8]}")
    assert page.locator(".hits time").all_inner_texts() == times
    page.goto(f"{seen.base}/search?since=never")
    assert "is no time" in page.locator(".bad").inner_text()
    page.goto(f"{seen.base}/search?session=another")
    assert page.locator(".hits li").count() == 0


def test_hostile_text_is_shown_and_never_run(seen: Viewer, opened: Open) -> None:
    page = opened(seen)
    for address in ADDRESSES:
        page.goto(f"{seen.base}{address}")
        assert "owned" not in page.title()
        text = page.locator("body").inner_text()
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert page.locator("main img").count() == 0
    page.goto(f"{seen.base}/Q1")
    assert "<script>document.title" in page.locator("body").inner_text()


def test_markup_in_every_field_stays_text(repository: Path, tmp_path: Path, opened: Open) -> None:
    name = "agent-<img src=x>"
    path = write_transcript(
        tmp_path / "t" / f"{SESSION}.jsonl",
        prompt(1, HOSTILE, cwd=f"/tmp/{HOSTILE}", gitBranch=HOSTILE),
        answer(2, HOSTILE, call("c1", f"Tool {HOSTILE}", command=HOSTILE), {"type": "thinking", "thinking": HOSTILE}),
        result(3, "c1", HOSTILE, is_error=True),
        {**boundary(4), "compactMetadata": {"trigger": HOSTILE, "preTokens": 9}},
        summary(5, f"{HOSTILE} D1"),
    )
    write_transcript(path.with_suffix("") / "subagents" / f"{name}.jsonl", prompt(101, HOSTILE, agentId=name))
    for words in (
        ("import", str(path)),
        ("work", "set", "--id", HOSTILE, "--title", HOSTILE),
        ("decision", "add", HOSTILE, "--rationale", HOSTILE),
        ("constraint", "add", HOSTILE, "--source", HOSTILE),
        ("question", "add", HOSTILE, "--context", HOSTILE),
        ("evidence", "add", "--type", "error", HOSTILE, "--source", HOSTILE),
        ("attempt", "add", HOSTILE, "--outcome", HOSTILE),
    ):
        run(repository, *words)
    with viewing(repository) as viewer:
        page = opened(viewer)
        for address in (*ADDRESSES, "/C1", "/E1", "/A1", f"/search?q={quote(HOSTILE)}&tool={quote(HOSTILE)}"):
            answered = page.goto(f"{viewer.base}{address}")
            assert answered is not None
            assert (address, answered.status) == (address, 200)
            assert "owned" not in page.title().replace("document.title='owned'", "")
            assert page.locator("main script, main img, main [onerror]").count() == 0
        shown = run(repository, "view", "--export", "page.html", "K1") or (repository / "page.html").read_text("utf-8")
        assert "<img" not in shown.replace("&lt;img", "")


def test_a_running_session_shows_new_turns_by_itself(told: Path, opened: Open) -> None:
    with viewing(told) as viewer:
        page = opened(viewer)
        page.goto(f"{viewer.base}/session/1")
        path = transcript_of(told)
        append(path, prompt(30, "One more thing"), answer(31, "Which one?"))
        hook(told, path, "Stop")
        page.locator("article.turn", has_text="One more thing").wait_for()
        append(path, answer(32, "The last."))
        hook(told, path, "Stop")
        page.locator("article.turn", has_text="The last.").wait_for()
        expect(page.locator("article.turn")).to_have_count(4)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault_of_accessibility(told: Path, opened: Open, scheme: str) -> None:
    script = axe_script()
    faults = []
    run(told, "drop", "D2", "--why", "another clock")
    with viewing(told) as viewer:
        page = opened(viewer, color_scheme=scheme, bypass_csp=True)
        for address in ADDRESSES:
            page.goto(f"{viewer.base}{address}")
            page.evaluate(script)
            found = page.evaluate("axe.run().then((told) => told.violations)")
            faults += [
                (address, one["id"], node["html"][:100], node.get("failureSummary", "")[:200])
                for one in found
                if one["impact"] in {"serious", "critical"}
                for node in one["nodes"]
            ]
    assert faults == []


def test_pages_fit_a_phone_and_a_wide_screen(told: Path, opened: Open) -> None:
    run(told, "decision", "add", f"Keep {'long_' * 20}name.go", "--rationale", "x/" * 100)
    with viewing(told) as viewer:
        page = opened(viewer)
        for width in (400, 3840):
            page.set_viewport_size({"width": width, "height": 900})
            for address in (*ADDRESSES, "/D3"):
                page.goto(f"{viewer.base}{address}")
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, address)


def test_what_holds_for_all_projects_stands_behind_the_projects_own_and_is_marked(told: Path) -> None:
    workspace = open_workspace(str(told), None, report=print, origin=USER_SAID)
    add_item(
        workspace.of_all_projects(), CONSTRAINT, {"constraint": "Use uv, not pip", "source": "", "blocking": False}
    )
    with viewing(told) as viewer:
        state = viewer.get("/state")[2]
        assert 0 < state.index('/C1"') < state.index('/global:C1"') < state.index("Use uv, not pip")
        assert '/global:C1"' not in viewer.get("/state?at=now")[2]
        _, _, page = viewer.get("/global:C1")
        assert ("global:C1 <small>constraint, active" in page, "Use uv, not pip" in page, "<form method" in page) == (
            True,
            True,
            False,
        )
        assert '/global:C1"' in viewer.get("/search?q=uv")[2]
