"""Of a build, a compiler, a linter, an installer: each error and warning with what stands around it, and how it
ended.
"""

from __future__ import annotations

from unified_state.rules.shortening.ranking import Ranking, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.rules.shortening.call import Call
    from unified_state.rules.shortening.view import View

KIND = "build"
SCALES = (30, 5, 3)  # by level
_PROGRAMS = frozenset((
    "go build", "go vet", "go install", "go run", "cargo build", "cargo check", "cargo clippy", "cargo run", "rustc",
    "gcc", "g++", "cc", "c++", "clang", "clang++", "make", "cmake", "ninja", "bazel build", "tsc", "npx tsc", "npm run",
    "npm install", "npm ci", "yarn", "pnpm install", "pnpm build", "pnpm run", "webpack", "vite build", "next build",
    "mvn", "gradle", "./gradlew", "gradlew", "javac", "dotnet build", "msbuild", "swift build", "xcodebuild",
    "docker build", "docker compose", "pip install", "uv sync", "uv pip", "poetry install", "apt-get", "apt", "brew",
    "ruff", "mypy", "pyright", "eslint", "npx eslint", "golangci-lint", "pylint", "flake8", "shellcheck", "terraform",
    "mise run",
))  # fmt: skip
_WARNING = ("warning", "WARN", "Warning")


def fits(call: Call, _view: View) -> bool:
    """Whether an output is a build's: by its command."""
    return call.runs(_PROGRAMS)


def rank(view: View) -> Ranking:
    """Warnings, then the end before the beginning."""
    warnings = [number for number, piece in enumerate(view.pieces) if any(word in piece for word in _WARNING)]
    return Ranking(set(), warnings + ends_first(len(view.pieces), head=1, tail=3))
