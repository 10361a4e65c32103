"""Of what no person wrote: lock files, bundles, snapshots, encoded data. Its beginning says what it is; no more of it
is read.
"""

from __future__ import annotations

from unified_state.context.lean.rules.rank import Ranking, ends_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.lean.rules.output_view import View
    from unified_state.context.lean.rules.tool_call import Call

KIND = "generated"
SCALES = (20, 12, 6)  # by level
_ENDINGS = (
    ".lock", "package-lock.json", "pnpm-lock.yaml", "go.sum", ".min.js", ".min.css", ".map",
    ".snap", ".pb.go", "_pb2.py",
    ".g.dart", ".generated.ts", ".svg",
)  # fmt: skip
_FOLDERS = ("/dist/", "/node_modules/", "/vendor/", "/__snapshots__/", "/target/", "/.next/", "/build/generated/")
_LEAST_CHARACTERS = 2_000
_BLANK_SHARE = 0.02
_SAMPLE = 4_000


def fits(_call: Call, view: View) -> bool:
    """Whether it is all but without blanks: encoded data, a bundle."""
    sample = view.text[:_SAMPLE]
    if len(view.text) < _LEAST_CHARACTERS or not sample.isascii():
        return False
    return len(sample) - sum(map(len, sample.split())) < _BLANK_SHARE * len(sample) and '"' not in sample


def rank(view: View) -> Ranking:
    """The beginning, and a little of the end."""
    return Ranking(set(), ends_first(len(view.pieces), head=3, tail=1))


def is_generated(path: str) -> bool:
    """Whether a file's path says that a program wrote it."""
    return path.endswith(_ENDINGS) or any(folder in path for folder in _FOLDERS)
