"""Test runs and builds: output of programs that check code."""

from __future__ import annotations

from unified_state.extras.lean.rules.output_kinds import place
from unified_state.extras.lean.rules.output_view import View
from unified_state.extras.lean.rules.short_form import Kind, Ranking, ends_first
from unified_state.extras.lean.rules.tool_call import Call

_TEST_PROGRAMS = frozenset((
    "pytest", "go test", "cargo test", "cargo nextest", "jest", "vitest", "mocha", "npm test", "npm run test",
    "yarn test", "pnpm test", "rspec", "phpunit", "ctest", "dotnet test", "mvn test",
    "gradle test", "gradlew test", "make test", "make check", "tox", "nox", "mise run test", "deno test", "bun test",
    "swift test", "mix test", "python -m pytest", "python -m unittest", "python3 -m pytest", "python3 -m unittest",
))  # fmt: skip
_PASSED = ("--- PASS", "\u2713", "\u2714", "\u221a", "ok ", "PASS ", "PASSED ", "[ OK ]", "[       OK ]")
_PASSED_ENDS = ("... ok", " PASSED")
_NOT_RUN = "--- SKIP"
_NOT_RUN_ENDS = ("... ignored", "[no test files]", " SKIPPED")
_TIMED = ("]", " sec")  # ends of lines with progress or duration
_STARTED = ("=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "[ RUN      ]")
_SAYS_NOTHING = (
    "=== RUN",
    "=== PAUSE",
    "=== CONT",
)  # carry no information about a failure, whose own line names the test
_FAILED = (
    "--- FAIL", "FAILED ", "FAIL ", "FAIL\t", "Failed ", "\u2717", "\u2718", "\u2716", "\u2715", "\u00d7", "\u25cf",
    "not ok",
)  # fmt: skip
_FAILED_ENDS = (" FAILED", "... FAIL", "... ERROR")
_FAILED_OF_CTEST = "***"  # marks the rest of the output up to the next test
_REPORTS = ("= FAILURES =", "= ERRORS =", "= short test summary")
_REPORTS_WHOLE = ("failures:", "Failures:")  # complete lines of cargo and rspec
_REPORTS_OF_UNITTEST = ("FAIL: ", "ERROR: ")  # followed by an underline
_REPORTS_OF_MOCHA = ("passing", "failing")  # after a number
_SAID_BY_A_TEST = "_test.go:"
_FEW_MARKERS, _LOOKED_AT = 3, 400
_SUMMARY = 4  # last lines


def _is_test_run(call: Call, view: View) -> bool:
    """Return whether an output is a test run, by its command or by its lines."""
    if call.runs(_TEST_PROGRAMS):
        return True
    markers = ("--- PASS", "--- FAIL", "=== RUN", "\u2713", "\u2714")
    lines = view.pieces[:_LOOKED_AT]
    return not call.only_prints and sum(line.lstrip().startswith(markers) for line in lines) >= _FEW_MARKERS


def _rank_test_run(view: View) -> Ranking:
    """Rank failures, then other outcomes that are not passes, then the summary."""
    pieces = view.pieces
    count = len(pieces)
    outcomes = _Outcomes(pieces)
    must = outcomes.failed | set(range(max(0, count - _SUMMARY), count))
    others = [number for number in ends_first(count) if number not in outcomes.passed]
    return Ranking(must - outcomes.passed.keys(), others, outcomes.passed)


class _Outcomes:
    """The outcomes of a test run, read line by line: units of failures, and labelled units of other outcomes."""

    def __init__(self, pieces: list[str]) -> None:
        self.failed: set[int] = set()
        self.passed: dict[int, str] = {}
        self._pieces = pieces
        self._said: dict[str, list[int]] = {}  # output so far, by test
        self._running = self._before = ""
        self._in_failure = self._is_flush = self._in_report = False
        for number, piece in enumerate(pieces):
            self._read(number, piece.strip())

    def _read(self, number: int, line: str) -> None:
        self._in_report = self._in_report or _begins_reports(line, self._before)
        self._before = line
        if self._in_report:
            self.failed.add(number)
        elif line.startswith(_FAILED) or line.endswith(_FAILED_ENDS) or _is_numbered(line):
            self._fail(number, line)
        elif outcome := _outcome(line):
            for at in self._said.pop(_named(line), []):
                self.passed[at] = "started" if self._pieces[at].startswith(_SAYS_NOTHING) else "said by them"
            self.passed[number] = outcome
            self._running, self._in_failure = "", False
        elif line.startswith(_STARTED):
            self._running, self._in_failure = _named(line), False
            self._said.setdefault(self._running, []).append(number)
        else:
            self._hear(number, line)

    def _fail(self, number: int, line: str) -> None:
        for at in (*self._said.pop(_named(line), []), number):
            if self._pieces[at].startswith(_SAYS_NOTHING):
                self.passed[at] = "started"
            else:
                self.failed.add(at)
        self._running, self._in_failure, self._is_flush = "", True, False

    def _hear(self, number: int, line: str) -> None:
        """Add a line that is not an outcome: output of a test, or the message of a failure."""
        if self._in_failure and line and (self._is_flush or self._pieces[number][:1].isspace()):
            self.failed.add(number)
        elif self._running:
            self._said[self._running].append(number)
        elif line.endswith(" sec") and _FAILED_OF_CTEST in line:
            self.failed.add(number)
            self._in_failure = self._is_flush = True
        elif _SAID_BY_A_TEST in line:  # a test whose name was cut off earlier
            self.failed.add(number)


def _outcome(line: str) -> str:
    """Return the label of a line with an outcome other than failure, or "" for other lines."""
    if line.startswith(_PASSED) or line.endswith(_PASSED_ENDS) or (line.endswith(_TIMED) and _has_passed(line)):
        return "passed"
    return "not run" if line.startswith(_NOT_RUN) or line.endswith(_NOT_RUN_ENDS) else ""


def _begins_reports(line: str, before: str) -> bool:
    """Return whether a line begins the reports of failures. `=== RUN   TestA/failures:_b` does not."""
    if line.startswith(_REPORTS_OF_UNITTEST):
        return bool(before) and not before.strip("=")
    number, _, rest = line.partition(" ")
    if rest.startswith(_REPORTS_OF_MOCHA):
        return number.isdigit()
    return line in _REPORTS_WHOLE or (not line.startswith(_STARTED) and any(words in line for words in _REPORTS))


def _named(line: str) -> str:
    """Return the test that a line of `go test -v` names: `--- FAIL: TestA/b (0.01s)`, `=== RUN   TestA/b`."""
    words = line.split(None, 3)
    return words[2] if len(words) > 2 else ""  # noqa: PLR2004  # a marker of two words, and the name


def _is_numbered(line: str) -> bool:
    """Return whether a line is a numbered failure such as `2) closes the pool` (mocha, playwright, mix)."""
    return line[:1].isdigit() and line.partition(") ")[0].isdigit()


def _has_passed(line: str) -> bool:
    """Return whether a line with a time reports a pass.

    Examples: `tests/test_a.py ......  [ 12%]`, `tests/test_a.py::test_b PASSED  [ 12%]`, `Passed Pool.Opens [3 ms]`,
    `1/9 Test #1: pool ...   Passed  0.01 sec`.
    """
    if not line.endswith("%]"):
        return line.startswith("Passed ") or " Passed " in line
    before, _, _ = line.rpartition(" [")
    outcomes = before.rstrip().rpartition(" ")[2]
    return outcomes == "PASSED" or not outcomes.strip(".sx")


_BUILD_PROGRAMS = frozenset((
    "go build", "go vet", "go install", "go run", "cargo build", "cargo check", "cargo clippy", "cargo run", "rustc",
    "gcc", "g++", "cc", "c++", "clang", "clang++", "make", "cmake", "ninja", "bazel build", "tsc", "npm run",
    "npm install", "npm ci", "yarn", "pnpm install", "pnpm build", "pnpm run", "webpack", "vite build", "next build",
    "mvn", "gradle", "./gradlew", "gradlew", "javac", "dotnet build", "msbuild", "swift build", "xcodebuild",
    "docker build", "docker compose", "pip install", "uv sync", "uv pip", "poetry install", "apt-get", "apt", "brew",
    "ruff", "mypy", "pyright", "eslint", "golangci-lint", "pylint", "flake8", "shellcheck", "terraform",
    "mise run",
))  # fmt: skip
_WARNING = ("warning", "WARN", "Warning")
_MOST_FINDINGS = 200  # always shown; an agent never fixes more at once
_NO_FINDING = (*_WARNING, "note:", "info:", "In file included from")


def _is_build(call: Call, _view: View) -> bool:
    """Return whether an output is a build, by its command."""
    return call.runs(_BUILD_PROGRAMS)


def _rank_build(view: View) -> Ranking:
    """Rank findings with a place in a file (also those that a linter does not call errors), then warnings, then the end
    before the beginning.
    """
    warnings = [number for number, piece in enumerate(view.pieces) if any(word in piece for word in _WARNING)]
    findings = [number for number, piece in enumerate(view.pieces) if _is_finding(piece)]
    return Ranking(set(findings[:_MOST_FINDINGS]), findings + warnings + ends_first(len(view.pieces), head=1, tail=3))


def _is_finding(line: str) -> bool:
    """Return whether a line names a place: `src/a.py:12:5: F401 …`, `a.go:3: …`."""
    file, is_found = (":" in line and place(line)) or ("", False)
    return is_found and "." in file and " " not in file and not any(word in line for word in _NO_FINDING)


TEST_RUN = Kind("test run", (30, 3, 2), _is_test_run, _rank_test_run)
BUILD = Kind("build", (30, 5, 3), _is_build, _rank_build)
