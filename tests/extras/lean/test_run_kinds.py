"""Of each runner's output, as it prints it, what failed is whole; also in colour, and with the line ends of Windows."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from unified_state.extras.lean.rules.output_view import as_read
from unified_state.extras.lean.rules.shorten import TIGHT, shorten

SAID = "".join(f"      row {number} of what it was given\n" for number in range(12))
FLUSH = SAID.replace("      ", "")


class Output(NamedTuple):
    """What a runner prints: of a test that passed, of one that failed, and at the end."""

    command: str
    passed: str
    failed: str
    end: str


OUTPUTS = {
    "jest": Output(
        "npx jest",
        "PASS src/part{n}.test.ts\n    \u2713 does a thing ({n} ms)\n",
        "FAIL src/pool.test.ts\n    \u2715 closes (5 ms)\n  \u25cf pool \u203a closes\n"
        f"    expect(received).toBe(expected)\n    Expected: 4\n    Received: 3\n"
        f"{SAID}      at Object.<anonymous> (src/pool.test.ts:12:21)\n",
        "Tests:       1 failed, 601 passed, 602 total\n",
    ),
    "vitest": Output(
        "npx vitest run",
        " \u2713 src/part{n}.test.ts (12 tests) {n}ms\n",
        "   \u00d7 pool > closes 5ms\n     \u2192 expected 3 to be 4\n",
        " FAIL  src/pool.test.ts > pool > closes\n" + SAID + "      Tests  1 failed | 2400 passed (2401)\n",
    ),
    "mocha": Output(
        "npx mocha",
        "    \u2714 does a thing {n}\n",
        "    1) closes\n",
        "  300 passing (30ms)\n  1 failing\n\n"
        f"  1) pool\n       closes:\n      -3\n      +4\n{SAID}      at test/p.js:1\n",
    ),
    "playwright": Output(
        "npx playwright test",
        "  \u2713  {n} [chromium] \u203a a.spec.ts:{n}:1 \u203a does a thing (1.0s)\n",
        f"  1) [chromium] \u203a a.spec.ts:3:1 \u203a closes\n{SAID}",
        "  1 failed\n    [chromium] \u203a a.spec.ts:3:1 \u203a closes\n",
    ),
    "node": Output(
        "node --test", "\u2714 does a thing {n} (0.1ms)\n", f"\u2716 closes (1.2ms)\n{SAID}", "\u2139 fail 1\n"
    ),
    "TAP": Output(
        "npm test", "ok {n} - does a thing\n", f"not ok 301 - closes\n  ---\n  actual: 3\n{SAID}  ...\n", "# fail 1\n"
    ),
    "unittest": Output(
        "python -m unittest -v",
        "test_{n} (tests.test_a.A.test_{n}) ... ok\n",
        "test_pool (tests.test_pool.P.test_pool) ... FAIL\n",
        f"{'=' * 70}\nFAIL: test_pool (tests.test_pool.P.test_pool)\n{'-' * 70}\n"
        "Traceback (most recent call last):\n"
        f"AssertionError: [1] != [2]\n\n- [1]\n+ [2]\n\n{FLUSH}{'-' * 70}\n"
        "Ran 301 tests in 0.1s\n\nFAILED (failures=1)\n",
    ),
    "pytest": Output(
        "uv run pytest -v",
        "tests/test_a.py::test_{n} PASSED                   [  1%]\n",
        "tests/test_pool.py::test_pool FAILED                   [ 90%]\n",
        f"==== FAILURES ====\n____ test_pool ____\nE       assert 3 == 4\n{FLUSH}"
        "==== 1 failed, 300 passed in 1.23s ====\n",
    ),
    "cargo": Output(
        "cargo test",
        "test pool::test_{n} ... ok\n",
        "test pool::closes ... FAILED\n",
        f"failures:\n\n---- pool::closes stdout ----\n{FLUSH}  left: 3\n right: 4\n\ntest result: FAILED. 1 failed\n",
    ),
    "nextest": Output(
        "cargo nextest run",
        "        PASS [   0.001s] pool test_{n}\n",
        f"        FAIL [   0.005s] pool closes\n{SAID}",
        "     Summary [   0.1s] 301 tests run: 300 passed, 1 failed, 0 skipped\n",
    ),
    "dotnet": Output(
        "dotnet test",
        "  Passed Pool.Tests.T.Test{n} [{n} ms]\n",
        f"  Failed Pool.Tests.T.Closes [5 ms]\n  Error Message:\n   Assert.Equal() Failure\n  Stack Trace:\n{SAID}",
        "Failed!  - Failed:     1, Passed:   300, Skipped:     0, Total:   301, Duration: 1 s\n",
    ),
    "gradle": Output(
        "./gradlew test",
        "com.x.PoolTest > test{n}() PASSED\n\n",
        f"com.x.PoolTest > closes() FAILED\n    AssertionFailedError: expected: <4> but was: <3>\n{SAID}",
        "301 tests completed, 1 failed\n\nBUILD FAILED in 3s\n",
    ),
    "maven": Output(
        "mvn test",
        "[INFO] Running com.x.Pool{n}Test\n"
        "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0 -- in com.x.Pool{n}Test\n",
        "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0 <<< FAILURE! -- in com.x.PoolTest\n"
        "org.opentest4j.AssertionFailedError: expected: <4> but was: <3>\n"
        "\tat com.x.PoolTest.closes(PoolTest.java:12)\n",
        "[ERROR]   PoolTest.closes:12 expected: <4> but was: <3>\n[INFO] BUILD FAILURE\n",
    ),
    "rspec": Output(
        "bundle exec rspec -fd",
        "  does a thing {n}\n",
        "  closes (FAILED - 1)\n",
        f"Failures:\n\n  1) Pool closes\n     expected: 4\n          got: 3\n{SAID}501 examples, 1 failure\n",
    ),
    "ctest": Output(
        "ctest --output-on-failure",
        "{n}/301 Test #{n}: part_{n} .....................   Passed    0.01 sec\n",
        f"201/301 Test #201: pool .....................***Failed    0.01 sec\n{FLUSH}pool.cpp:12: got 3\n",
        "99% tests passed, 1 tests failed out of 301\n",
    ),
    "go": Output(
        "go test ./...",
        "ok  \tpool/part{n}\t0.0{n}s\n",
        f"--- FAIL: TestCloses (0.00s)\n    pool_test.go:12: got 3\n{SAID}FAIL\nFAIL\tpool\t0.01s\n",
        "FAIL\n",
    ),
}  # fmt: skip
FORMS = {
    "plain": "{}",
    "in colour": "\x1b[1m\x1b[32m{}\x1b[39m\x1b[22m",
    "of Windows": "{}\r",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("runner", OUTPUTS)
def test_what_failed_is_whole_and_what_passed_is_cut(runner: str, form: str) -> None:
    command, passed, failed, end = OUTPUTS[runner]
    passes = "".join(passed.replace("{n}", str(number)) for number in range(300))
    output = "".join(f"{FORMS[form].format(line)}\n" for line in (passes + failed + passes + end).split("\n"))
    short = shorten("Bash", {"command": command}, output, TIGHT)
    assert short is not None
    assert short.kind == "test run"
    assert len(short.text) < len(output) / 4
    shown = list(map(str.rstrip, map(as_read, short.text.split("\n"))))
    assert [line for line in map(str.rstrip, (failed + end).split("\n")) if line not in shown] == []


def test_what_was_not_run_is_not_counted_as_passed() -> None:
    skipped = "".join(f"--- SKIP: Test{number} (0.00s)\n" for number in range(100))
    empty = "".join(f"?   \tpool/part{number}\t[no test files]\n" for number in range(100))
    short = shorten("Bash", {"command": "go test -v ./..."}, skipped + empty + "ok  \tpool\t1s\n" * 9, TIGHT)
    assert short is not None
    assert "200 not run" in short.text
    assert "200 passed" not in short.text


def test_of_a_test_that_failed_its_own_line_is_enough_to_name_it() -> None:
    begun = "=== RUN   TestPool\n=== PAUSE TestPool\n=== CONT  TestPool\n"
    passed = "".join(f"=== RUN   Test{number}\n--- PASS: Test{number} (0.00s)\n" for number in range(300))
    output = f"{passed}{begun}=== NAME  TestPool\n    pool_test.go:9: got 3\n--- FAIL: TestPool (0.01s)\nFAIL\n"
    short = shorten("Bash", {"command": "go test -v ./..."}, output, TIGHT)
    assert short is not None
    assert short.text == (
        "[\u2026 603 lines: 303 started, 300 passed]\n"
        "=== NAME  TestPool\n    pool_test.go:9: got 3\n--- FAIL: TestPool (0.01s)\nFAIL\n"
    )
