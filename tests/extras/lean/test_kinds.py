"""What the form of each kind keeps, with outputs as the tools print them."""

from __future__ import annotations

import json

import pytest

from unified_state.extras.lean.rules.shorten import MIDDLE, TIGHT, shorten
from unified_state.model.step import ShortForm

PASSED_TESTS = "".join(
    f"=== RUN   Test{n}\n    a_test.go:{n}: said {n}\n--- PASS: Test{n} (0.00s)\n" for n in range(300)
)


def short_of(tool: str, output: str, level: int = MIDDLE, **given: str) -> ShortForm:
    """The short form of a tool's output."""
    short = shorten(tool, given, output, level)
    assert short is not None
    return short


def test_of_go_tests_a_failure_is_whole_and_what_passed_is_counted() -> None:
    failure = "=== NAME  TestPool\n    pool_test.go:12: got 3\n        want 4\n"
    other = "=== RUN   TestLater\n--- PASS: TestLater (0.10s)\n"
    failed = f"=== RUN   TestPool\n{failure}{other}--- FAIL: TestPool (0.01s)\n"
    output = f"{PASSED_TESTS}{failed}{PASSED_TESTS}FAIL\tpool\t1.2s\nFAIL\n"
    short = short_of("Bash", output, TIGHT, command="go test -v ./...")
    assert short.kind == "test run"
    assert failure in short.text
    assert "--- FAIL: TestPool (0.01s)\n" in short.text
    assert short.text.endswith("FAIL\tpool\t1.2s\nFAIL\n")
    assert "300 passed" in short.text
    assert "Test17 " not in short.text


@pytest.mark.parametrize("command", ["timeout 60 go test -v ./...", "bash -lc 'cd src && go test -v ./...'"])
def test_a_test_run_is_known_behind_what_runs_it(command: str) -> None:
    quiet = "".join(f"ok  \tpool/part{n}\t0.{n}s\n" for n in range(300))
    assert short_of("Bash", quiet, command=command).kind == "test run"


def test_a_go_test_named_after_failures_begins_no_report_of_them() -> None:
    output = "=== RUN   TestPool/failures:_none\n--- PASS: TestPool/failures:_none (0.00s)\n" + PASSED_TESTS
    short = short_of("Bash", output, TIGHT, command="go test -v ./...")
    assert "301 passed" in short.text


@pytest.mark.parametrize(
    "line",
    [
        "src/a.c:12:5: error: expected ';' before 'return'\n",
        "./pool.go:41:2: undefined: limit\n",
        "src/app.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
        "error[E0308]: mismatched types\n",
    ],
)
def test_of_a_build_each_error_stays_with_what_stands_around_it(line: str) -> None:
    compiling = "".join(f"[{n}/900] Compiling module_{n}\n" for n in range(900))
    context = "  12 |   return x\n     |   ^^^^^^\n"
    short = short_of("Bash", compiling + line + context + compiling, TIGHT, command="make -j8")
    assert short.kind == "build"
    assert f"[899/900] Compiling module_899\n{line}{context}" in short.text


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("ruff check .", "src/part{n}/a.py:{n}:5: F401 `os` imported but unused\n"),
        ("golangci-lint run", "pool/part{n}.go:{n}:2: ineffectual assignment to x (ineffassign)\n"),
        ("flake8", "./part{n}.py:{n}:1: E302 expected 2 blank lines, found 1\n"),
    ],
)
def test_what_a_linter_finds_stays_though_it_calls_it_no_error(command: str, line: str) -> None:
    findings = "".join(line.format(n=number) for number in range(100))
    checked = "".join(f"checked {number} of the files\n" for number in range(900))
    short = short_of("Bash", checked + findings + checked, TIGHT, command=command)
    assert findings in short.text


def test_of_very_many_findings_the_first_stay() -> None:
    findings = "".join(f"src/part{number}/a.py:{number}:5: F401 unused\n" for number in range(900))
    short = short_of("Bash", findings, TIGHT, command="ruff check .")
    assert findings[: findings.index("src/part200/")] in short.text


@pytest.mark.parametrize("matches", [1, 8])
def test_of_search_results_below_the_names_of_their_files_each_file_has_its_name_and_first_match(matches: int) -> None:
    output = "".join(
        f"src/part{file}.go\n" + "".join(f"{number}:\tpool.Get({number})\n" for number in range(1, matches + 1)) + "\n"
        for file in range(100)
    )
    short = short_of("Bash", output, MIDDLE, command="rg --heading -n pool")
    assert short.kind == "search results"
    assert all(f"src/part{file}.go\n1:\tpool.Get(1)\n" in short.text for file in range(20))


def test_of_json_names_and_a_sample_stay() -> None:
    items = [{"id": n, "title": f"Title of {n}", "state": "open", "owner": {"login": "octo"}} for n in range(400)]
    short = short_of("Bash", json.dumps(items, indent=2), MIDDLE, command="gh api x")
    assert short.kind == "JSON"
    assert all(f'"{name}":' in short.text for name in ("id", "title", "state", "owner", "login"))
    assert '"Title of 0"' in short.text


def test_of_a_diff_files_and_hunks_are_named_and_changes_come_before_what_is_around() -> None:
    around = " unchanged line that stands around\n" * 40
    files = "".join(
        f"diff --git a/f{n}.py b/f{n}.py\n--- a/f{n}.py\n+++ b/f{n}.py\n"
        f"@@ -1,9 +1,9 @@ def f{n}\n{around}-old_{n}\n+new_{n}\n"
        for n in range(12)
    )
    short = short_of("Bash", files, MIDDLE, command="git diff")
    assert short.kind == "diff"
    assert all(f"diff --git a/f{n}.py b/f{n}.py\n" in short.text for n in range(12))
    assert all(f"-old_{n}\n+new_{n}\n" in short.text for n in range(12))


def test_of_a_diff_small_changes_stay_with_what_stands_around_them() -> None:
    new = "@@ -0,0 +1,400 @@\n" + "".join(f"+line {n} of a new file\n" for n in range(400))
    edit = (
        "@@ -7,4 +7,4 @@ def f\n     pool = open_pool()\n-    pool.limit = 7\n+    pool.limit = 8\n     return pool\n"
    )
    short = short_of(
        "Bash", f"diff --git a/new.py b/new.py\n{new}diff --git a/f.py b/f.py\n{edit}", TIGHT, command="git diff"
    )
    assert short.text.endswith(edit)


def test_in_a_diff_a_lock_file_is_only_named() -> None:
    lock = "diff --git a/poetry.lock b/poetry.lock\n@@ -1 +1 @@\n" + "".join(f"+hash_{n} = 1\n" for n in range(900))
    code = "diff --git a/a.py b/a.py\n@@ -1 +1 @@\n+changed_here = 2\n"
    short = short_of("Bash", lock + code, TIGHT, command="git diff")
    assert "+changed_here = 2\n" in short.text
    assert "hash_450 " not in short.text


def test_a_subagents_report_stays_whole_but_for_the_list_of_its_calls() -> None:
    head = "<retrieval_status>success</retrieval_status>\n<task_type>local_agent</task_type>\n"
    calls = "".join(f'[Tool: Read] {{"file_path":"/p/src/file_{n}.py"}}\n' for n in range(100))
    report = "".join(f"- finding {n}: the pool is not closed\n" for n in range(60))
    short = short_of("TaskOutput", head + calls + report, MIDDLE, task_id="a1")
    assert short.text == f"{head}[… 100 lines: 100 of tool calls]\n{report}"
    assert shorten("Task", {}, report * 5, MIDDLE) is None
    assert len(short_of("Task", report * 10, TIGHT).text) < len(report) * 4


COLOURED = {
    "diff": (
        "git diff --color",
        "\x1b[1mdiff --git a/f{n} b/f{n}\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m f\n around it\n\x1b[32m+new_{n}\x1b[m\n",
    ),
    "search results": ("rg --color=always x", "\x1b[35msrc/p{n}.go\x1b[0m:\x1b[32m{n}\x1b[0m:\x1b[1mx\x1b[0m := {n}\n"),
    "JSON": ("gh api x --color", '  {{\n    \x1b[34;1m"name"\x1b[0m: \x1b[32m"name_{n}"\x1b[0m\n  }},\n'),
}


@pytest.mark.parametrize("kind", COLOURED)
def test_a_kind_is_known_in_colour_and_stays_as_it_was_printed(kind: str) -> None:
    command, pattern = COLOURED[kind]
    output = ("\x1b[1;39m[\n" if kind == "JSON" else "") + "".join(pattern.format(n=number) for number in range(400))
    short = short_of("Bash", output, MIDDLE, command=command)
    assert short.kind == kind
    assert "\x1b[" in short.text
    assert all(line in output for line in short.text.split("\n") if not line.startswith("[\u2026 "))


def test_of_rows_that_tell_of_a_crash_each_stays() -> None:
    rows = "".join(f"default     web-{number}   1/1     Running   0          9d\n" for number in range(300))
    crashed = "default     web-x   0/1     CrashLoopBackOff   9          9d\n"
    assert crashed in short_of("Bash", rows + crashed + rows, TIGHT, command="kubectl get pods").text
