"""Hindcast: what a restore gives back after real compactions, against what the agent then really used.

    python -m benchmarks.hindcast FOLDER [--tokens N …] [--json]

FOLDER holds transcripts of Claude Code or Codex (*.jsonl, *.jsonl.xz, also in subfolders), such as ~/.claude/projects.
Offline, and the same in every run. docs/explanation/how-it-is-measured.md tells what the measures mean.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.hindcast_baselines import BASELINES, within
from benchmarks.hindcast_cases import Case, find_cases
from benchmarks.hindcast_report import ALONE, WITH_SUMMARY, Measured, as_json, measure, tables
from benchmarks.temporary_project import temporary_workspace
from unified_state.capture.ingest import find_transcripts, ingest
from unified_state.lib.text import estimate_tokens
from unified_state.lib.times import to_milliseconds
from unified_state.restore.preview import preview_restore

BUDGETS = (250, 500, 1_000, 2_000, 4_000)
SUMMARY, OURS = "summary", "unified-state"


def main(arguments: list[str] | None = None) -> int:
    """Measure all cases of a folder and print the tables."""
    parser = described(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokens", type=int, nargs="+", default=BUDGETS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    measured: list[Measured] = []
    for case in find_cases(options.folder):
        print(f"{case.project} {case.name}", file=sys.stderr)
        measured += measure_case(case, options.tokens)
    if not measured:
        print(f"{options.folder}: no transcript with a compaction that can be measured", file=sys.stderr)
        return 1
    print(json.dumps(as_json(measured), indent=1) if options.json else tables(measured))
    return 0


def measure_case(case: Case, budgets: list[int]) -> Iterator[Measured]:
    """What each method's text holds within each budget, alone and beside the summary."""
    for tokens in budgets:
        for name, rank in BASELINES.items():
            text = within(rank(case, tokens), tokens)
            yield Measured(name, tokens, ALONE, case.name, measure(case, text))
            yield Measured(name, tokens, WITH_SUMMARY, case.name, measure(case, text, case.summary))
        yield Measured(SUMMARY, tokens, ALONE, case.name, measure(case, "", within([case.summary], tokens)))
        yield Measured(SUMMARY, tokens, WITH_SUMMARY, case.name, measure(case, "", case.summary))
    for _, tokens, summary, text in restored([case], budgets):
        mode = WITH_SUMMARY if summary else ALONE
        yield Measured(OURS, tokens, mode, case.name, measure(case, text, summary or ""))


def restored(
    cases: Sequence[Case], budgets: Sequence[int], *, alone: bool = True
) -> Iterator[tuple[Case, int, str | None, str]]:
    """What the product gives back after compactions of one session, in their order: the transcript is archived as far
    as it went, and `restore` asked for each budget, beside the summary and, if `alone`, without it too.
    """
    with temporary_workspace() as (workspace, folder):
        transcript = folder / "session.jsonl"
        for case in cases:
            times = [at for entry in case.before if (at := to_milliseconds(entry.get("timestamp"))) is not None]
            now = max(times, default=0)
            transcript.write_text("".join(f"{line}\n" for line in case.lines), encoding="utf-8")
            ingest(workspace, find_transcripts([str(transcript)]), now, lambda _: None)
            for tokens in budgets:
                for summary in (None, case.summary) if alone else (case.summary,):
                    text = preview_restore(workspace, now, summary=summary, tokens=tokens).text
                    if estimate_tokens(text) > tokens:
                        message = f"{case.name}: a restore of {tokens} tokens has more"
                        raise ValueError(message)
                    yield case, tokens, summary, text


if __name__ == "__main__":
    sys.exit(main())
