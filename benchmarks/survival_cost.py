"""What reading a summary costs, and what the delta adds to SessionStart, with many items and a long summary.

    python -m benchmarks.survival_cost

The summary is judged when it arrives, in a hook of its own that the client waits for as well; SessionStart reads the
verdicts. Target: the delta adds at most 20 ms there.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

from benchmarks.temporary_project import temporary_workspace
from unified_state.capture.take_summary import take_in
from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.compactions import SUBAGENT_STOP, begin_compaction, keep_summary
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.ledger.record_item import Author, record_item
from unified_state.memory.workspace.workspace import Workspace
from unified_state.model.item import DECISION
from unified_state.restore.compose_restore import gather, restored_text
from unified_state.restore.note_survival import note_restored

SIZES, ROUNDS = (50, 200, 500), 15
NOW = 1_790_000_000_000
_PARTS = ("parser", "cache", "archive", "worker", "gateway", "importer", "ledger", "scheduler", "session", "index")
_PROSE = "   - The {0} was split in two, and `{0}_{1}()` in src/{0}/part_{1}.py now returns early after {1} rows.\n"


def main() -> int:
    """Print a line for each number of items."""
    print(f"{'items':>6} {'judging ms':>11} {'SessionStart ms':>16} {'without':>8} {'added':>6}")
    for size in SIZES:
        with temporary_workspace() as (workspace, _):
            judging, with_delta, without = workspace.use(partial(measure, workspace, size))
        print(f"{size:>6} {judging:>11.1f} {with_delta:>16.1f} {without:>8.1f} {with_delta - without:>6.1f}")
    return 0


def measure(workspace: Workspace, size: int, archive: Archive) -> tuple[float, float, float]:
    """Milliseconds: judging, gathering and composing with the delta, and without it."""
    with archive.transaction():
        compaction = begin_compaction(archive, touch_session(archive, "s", NOW), NOW)
        summary = summary_of(size)
        keep_summary(archive, compaction, summary, SUBAGENT_STOP)
    for number in range(size):
        text = f"The {_PARTS[number % 10]} of stage {number} keeps {number + 3} entries in part_{number}.py"
        body = {"decision": text, "rationale": "measured", "reversible": True}
        record_item(archive, DECISION, body, Author("user_said"), mask=workspace.mask, now=NOW)
    judging = median(lambda: take_in(archive, compaction, summary, NOW))

    def restore() -> None:
        known = gather(archive, workspace.place, compaction.session, "compact", NOW)
        note_restored(archive, known, restored_text(known, workspace.settings).brief)

    with_delta = median(restore)
    archive.run("DELETE FROM survival")
    return judging, with_delta, median(restore)


def summary_of(items: int) -> str:
    """About 20 KB: prose, and every third item, half of these with another number."""
    lines = []
    for number in range(0, items, 3):
        kept = number + 3 + (number % 2)
        what = f"the {_PARTS[number % 10]} of stage {number} keeps {kept} entries in part_{number}.py"
        lines.append(f"   - D{number + 1}: {what}\n")
    while sum(map(len, lines)) < 20_000:
        lines.append(_PROSE.format(_PARTS[len(lines) % 10], len(lines)))
    return "".join(lines)


def median(action: Callable[[], object]) -> float:
    """The median of a few runs."""
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        action()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
