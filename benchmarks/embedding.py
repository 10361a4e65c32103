"""What vectors cost: how many steps a second get one, and how long a search takes that goes by meaning too.

    python -m benchmarks.embedding FILE… [--steps N] [--rounds N]

The FILEs are transcripts; their N newest steps get vectors, in one process, with the loading of the model. Then
`unified-state search` as a whole process, by words alone and by meaning, beside a bare node in the same run.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.minilm_folder import minilm_folder
from benchmarks.side_by_side import Contender, clean_environment, compare, node
from unified_state.lib.json_text import parse_json
from unified_state.setting_table import MINILM, OFF

PROGRAM = str(Path(sys.prefix) / "bin" / "unified-state")
QUERY = "why did the tests fail"
_KILOBYTE = 1024


def main(arguments: list[str] | None = None) -> int:
    """Archive the transcripts, make the vectors, search, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--steps", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args(arguments)
    files = [str(Path(file).resolve()) for file in options.files]
    with tempfile.TemporaryDirectory(prefix="unified-state-") as home:
        environment = clean_environment(HOME=home, UNIFIED_STATE_MINILM_FOLDER=minilm_folder())

        def run(*command: str) -> bytes:
            return subprocess.run(
                [PROGRAM, *command], env=environment, cwd=home, capture_output=True, check=True
            ).stdout

        run("import", *files)
        begin = time.perf_counter()
        done = parse_json(run("embed", "--json", "--limit", str(options.steps)).decode())
        seconds = time.perf_counter() - begin
        print(f"{done['added']:,} steps in {seconds:.1f} s: {done['added'] / seconds:,.0f} a second")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _KILOBYTE
        print(f"at most {most / 1e6:,.0f} MB of memory\n")
        contenders = [
            Contender(
                f"search, {model}",
                [PROGRAM, "search", QUERY],
                environment={**environment, "UNIFIED_STATE_SEARCH_VECTORS": model},
                cwd=home,
            )
            for model in (OFF, MINILM)
        ]
        compare([node(), *contenders], options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
