"""Lean context on real sessions: every tool output replayed, what its short form saves, and what of it the agent used
later.

    python -m benchmarks.lean FOLDER [--as-printed]

FOLDER holds transcripts of Claude Code (*.jsonl, *.jsonl.xz, also in subfolders), such as ~/.claude/projects. Offline,
and the same in every run. docs/explanation/how-it-is-measured.md tells what the measures mean.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.lean_measures import FILES, OTHERS, Sums, group_of, measure, tokens_of
from benchmarks.lean_methods import Form, clearing, heads_and_tails, short_forms, whole
from benchmarks.lean_report import table
from benchmarks.lean_sessions import Stretch, stretches
from benchmarks.lean_uses import uses
from unified_state.extras.lean.rules.shorten import LEVELS

LEFT_WHOLE = "left whole"
_TAKEN = f"{OTHERS.capitalize()} that the client takes"
METHODS = {
    "as it was": whole,
    **{f"unified-state, level {level}": short_forms(level) for level in LEVELS},
    **{f"what the client takes, level {level}": short_forms(level, only_taken=True) for level in LEVELS},
    **{f"head and tail, as level {level}": heads_and_tails(level) for level in LEVELS},
    "clearing of old results": clearing,
}
_ORDER = ("All", "Other", "File", "By tool", "By kind")
Tables = dict[str, dict[str, Sums]]


def main(arguments: list[str] | None = None) -> int:
    """Measure all sessions of a folder and print the tables."""
    parser = described(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--as-printed", action="store_true", help="count only lines that were written again as printed")
    options = parser.parse_args(arguments)
    tables: Tables = defaultdict(lambda: defaultdict(Sums))
    sessions: list[str] = []
    for stretch in stretches(options.folder):
        if stretch.session not in sessions:
            sessions.append(stretch.session)
            print(stretch.session, file=sys.stderr)
        _measure(stretch, tables, as_printed=options.as_printed)
    if not sessions:
        print(f"{options.folder}: no transcript", file=sys.stderr)
        return 1
    for title, rows in sorted(tables.items(), key=lambda pair: list(map(pair[0].startswith, _ORDER)), reverse=True):
        print("\n".join(table(title, rows, by_tokens=not title.startswith(("All", OTHERS, FILES)))))
    return 0


def _measure(stretch: Stretch, tables: Tables, *, as_printed: bool) -> None:
    tokens = tokens_of([output.text for output in stretch.outputs])
    used = uses(stretch, as_printed=as_printed)
    groups = list(map(group_of, stretch.outputs))
    for name, method in METHODS.items():
        forms = method(stretch, tokens)
        for output, group, form, sums in zip(
            stretch.outputs, groups, forms, measure(stretch, used, forms, tokens), strict=True
        ):
            tables["All output"][name].add(sums)
            tables[group.capitalize()][name].add(sums)
            if group == OTHERS and output.is_taken:
                tables[_TAKEN][name].add(sums)
            if group == OTHERS and name.startswith("unified-state"):
                tables[f"By tool: {name}"][output.tool].add(sums)
                tables[f"By kind: {name}"][_kind(form)].add(sums)
            if group == OTHERS and name.startswith("head and tail"):
                tables[f"By kind: {name}"][_kind(form)].add(sums)


def _kind(form: Form) -> str:
    return form.kind or LEFT_WHOLE


if __name__ == "__main__":
    sys.exit(main())
