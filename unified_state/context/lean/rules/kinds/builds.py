"""Of a build, a compiler, a linter, an installer: each error and warning with what stands around it, and how it
ended.
"""

from __future__ import annotations

from unified_state.context.lean.rules.kinds.search_results import place
from unified_state.context.lean.rules.rank import Ranking, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call

KIND = "build"
SCALES = (30, 5, 3)  # by level
_PROGRAMS = frozenset((
    "go build", "go vet", "go install", "go run", "cargo build", "cargo check", "cargo clippy", "cargo run", "rustc",
    "gcc", "g++", "cc", "c++", "clang", "clang++", "make", "cmake", "ninja", "bazel build", "tsc", "npm run",
    "npm install", "npm ci", "yarn", "pnpm install", "pnpm build", "pnpm run", "webpack", "vite build", "next build",
    "mvn", "gradle", "./gradlew", "gradlew", "javac", "dotnet build", "msbuild", "swift build", "xcodebuild",
    "docker build", "docker compose", "pip install", "uv sync", "uv pip", "poetry install", "apt-get", "apt", "brew",
    "ruff", "mypy", "pyright", "eslint", "golangci-lint", "pylint", "flake8", "shellcheck", "terraform",
    "mise run",
))  # fmt: skip
_WARNING = ("warning", "WARN", "Warning")
_MOST_FINDINGS = 200  # that are never cut: nobody mends more at once
_NO_FINDING = (*_WARNING, "note:", "info:", "In file included from")


def fits(call: Call, _view: View) -> bool:
    """Whether an output is a build's: by its command."""
    return call.runs(_PROGRAMS)


def rank(view: View) -> Ranking:
    """What is found at a place in a file, also by a linter that does not call it an error; warnings, then the end
    before the beginning.
    """
    warnings = [number for number, piece in enumerate(view.pieces) if any(word in piece for word in _WARNING)]
    findings = [number for number, piece in enumerate(view.pieces) if _is_finding(piece)]
    return Ranking(set(findings[:_MOST_FINDINGS]), findings + warnings + ends_first(len(view.pieces), head=1, tail=3))


def _is_finding(line: str) -> bool:
    """`src/a.py:12:5: F401 …`, `a.go:3: …`."""
    file, is_found = (":" in line and place(line)) or ("", False)
    return is_found and "." in file and " " not in file and not any(word in line for word in _NO_FINDING)
