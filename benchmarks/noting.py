"""What the working set adds to archiving: the same transcripts archived with it and without, as whole processes.

    python -m benchmarks.noting [--messages N] [--rounds N] [TRANSCRIPT …]

Target: at most 1.15. Without it is what the hook does that a prompt waits for: it leaves the noting to the next one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.generated import write_transcript
from benchmarks.side_by_side import Contender, clean_environment, compare
from benchmarks.temporary_project import temporary_workspace
from unified_state.capture.capture_transcript import Capture
from unified_state.model.hook_event import Moment


def archive(paths: list[str], *, without: bool) -> None:
    """Archive transcripts into an empty archive, with the commits that a user's has."""
    now = int(time.time() * 1000)
    with temporary_workspace() as (workspace, _):
        workspace.use(
            lambda opened: [
                Capture(opened, workspace.masker, Moment(now), postpones=without).transcript(
                    path, Path(path).stem, to_end=True
                )
                for path in paths
            ]
        )


def main() -> None:
    """Compare on a generated transcript, or on those that are named."""
    parser = described(__doc__)
    parser.add_argument("paths", nargs="*", metavar="TRANSCRIPT")
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--archive", choices=("with", "without"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.archive:
        archive(options.paths, without=options.archive == "without")
        return
    with tempfile.TemporaryDirectory() as name:
        paths = options.paths
        if not paths:
            generated = Path(name) / "generated.jsonl"
            write_transcript(generated, options.messages, "11111111-2222-4333-8444-555555555555")
            paths = [str(generated)]
        contenders = [
            Contender(
                f"archiving {how} the working set",
                [sys.executable, "-m", "benchmarks.noting", "--archive", how, *paths],
                environment=clean_environment(),
            )
            for how in ("without", "with")
        ]
        compare(contenders, options.rounds)


if __name__ == "__main__":
    main()
