"""Of a test run: failures whole with their output, the summary; what passed is counted.

A runner's lines are known by how they begin or end. What stands between `=== RUN` and `--- PASS` belongs to a test that
passed, and goes with it.
"""

from __future__ import annotations

from unified_state.rules.shortening.ranking import Ranking, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.rules.shortening.call import Call
    from unified_state.rules.shortening.view import View

KIND = "test run"
SCALES = (30, 3, 2)  # by level
_PROGRAMS = frozenset((
    "pytest", "go test", "cargo test", "cargo nextest", "jest", "vitest", "mocha", "npm test", "npm run test",
    "yarn test", "pnpm test", "npx jest", "npx vitest", "rspec", "phpunit", "ctest", "dotnet test", "mvn test",
    "gradle test", "gradlew test", "make test", "make check", "tox", "nox", "mise run test", "deno test", "bun test",
    "swift test", "mix test", "python -m pytest", "python -m unittest", "python3 -m pytest", "python3 -m unittest",
))  # fmt: skip
_PASSED = ("--- PASS", "--- SKIP", "\u2713", "\u2714", "\u221a", "ok ", "PASS ", "PASSED ", "[ OK ]", "[       OK ]")
_PASSED_ENDS = ("... ok", " PASSED", "... ignored")
_STARTED = ("=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "[ RUN      ]")
_FAILED = ("--- FAIL", "FAILED ", "FAIL ", "FAIL\t", "\u2717", "\u2718", "\u2716", "\u00d7", "\u25cf", "not ok")
_REPORTS = ("= FAILURES =", "= ERRORS =", "= short test summary")
_REPORTS_OF_CARGO = "failures:"
_SAID_BY_A_TEST = "_test.go:"
_FEW_MARKERS, _LOOKED_AT = 3, 400
_SUMMARY = 4  # last lines


def fits(call: Call, view: View) -> bool:
    """Whether an output is a test run's: by its command, or by its lines."""
    if call.runs(_PROGRAMS):
        return True
    markers = ("--- PASS", "--- FAIL", "=== RUN", "\u2713", "\u2714")
    lines = view.pieces[:_LOOKED_AT]
    return not call.only_prints and sum(line.lstrip().startswith(markers) for line in lines) >= _FEW_MARKERS


def rank(view: View) -> Ranking:
    """Failures, what else is no pass, and the summary."""
    pieces = view.pieces
    count = len(pieces)
    failed, passed = _outcomes(pieces)
    must = failed | set(range(max(0, count - _SUMMARY), count))
    others = [number for number in ends_first(count) if number not in passed]
    return Ranking(must - passed.keys(), others, passed)


def _outcomes(pieces: list[str]) -> tuple[set[int], dict[int, str]]:
    """The units of what failed, and of what passed with what they are."""
    failed: set[int] = set()
    passed: dict[int, str] = {}
    said: dict[str, list[int]] = {}  # by test: what it said so far
    running, in_failure, in_report = "", False, False
    for number, piece in enumerate(pieces):
        line = piece.strip()
        in_report = in_report or (line.startswith(("=", _REPORTS_OF_CARGO)) and _begins_reports(line))
        if in_report:
            failed.add(number)
        elif line.startswith(_FAILED):
            failed.update(said.pop(_named(line), []), (number,))
            running, in_failure = "", True
        elif line.startswith(_PASSED) or line.endswith(_PASSED_ENDS) or (line.endswith("%]") and _is_progress(line)):
            passed.update(dict.fromkeys(said.pop(_named(line), []), "said by them"))
            passed[number] = "passed"
            running, in_failure = "", False
        elif line.startswith(_STARTED):
            running, in_failure = _named(line), False
            said.setdefault(running, []).append(number)
        elif in_failure and piece[:1].isspace() and line:
            failed.add(number)
        elif running:
            said[running].append(number)
        elif _SAID_BY_A_TEST in line:  # whose name was cut off before we saw it
            failed.add(number)
    return failed, passed


def _begins_reports(line: str) -> bool:
    """Whether the reports of failures begin with a line; `=== RUN   TestA/failures:_b` begins none."""
    return line == _REPORTS_OF_CARGO or (not line.startswith(_STARTED) and any(words in line for words in _REPORTS))


def _named(line: str) -> str:
    """The test that a line of `go test -v` names: `--- FAIL: TestA/b (0.01s)`, `=== RUN   TestA/b`."""
    words = line.split(None, 3)
    return words[2] if len(words) > 2 else ""  # noqa: PLR2004  # a marker of two words, and the name


def _is_progress(line: str) -> bool:
    """`tests/test_a.py ......  [ 12%]`, `tests/test_a.py::test_b PASSED  [ 12%]`."""
    before, _, _ = line.rpartition(" [")
    outcomes = before.rstrip().rpartition(" ")[2]
    return outcomes == "PASSED" or not outcomes.strip(".sx")
