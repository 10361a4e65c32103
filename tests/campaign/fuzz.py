"""One worker: tries inputs of one kind for some seconds, guided by the coverage of the product.

    python -m tests.campaign.fuzz KIND [--seconds N] --found FOLDER [CORPUS ...]    try new inputs
    python -m tests.campaign.fuzz KIND --replay FILE ...                            give these again

An input that breaks a promise is written to `failures` in FOLDER, with what was broken beside it; one that ends the
process is found there as `crash-…`. New inputs that reach more code are in `corpus`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.campaign.kind import Kind
    from tests.campaign.world import World

WHOLE_EVERY = 60  # inputs: this one meets whole processes
MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
FAILED = 1


@contextmanager
def temporary_world(scratch: Path | None = MEMORY) -> Iterator[World]:
    """A world in memory or in another folder, that is gone afterwards."""
    from tests.campaign.world import World

    folder = tempfile.mkdtemp(prefix="unified-state-campaign-", dir=scratch)
    try:
        yield World(Path(folder))
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


def tried(world: World, kind: Kind, data: bytes) -> str | None:
    """What an input broke, if anything. An error of the campaign's own is a failure too."""
    try:
        world.meet(kind.meet, data)
    except Exception:  # noqa: BLE001  # whatever it is, the campaign goes on
        return traceback.format_exc(limit=-6)
    return None


def signature(why: str) -> str:
    """What two failures of the same cause have in common."""
    last = [line for line in why.splitlines() if line and not line.startswith(" ")][-1]
    return re.sub(r"\d+|0x\w+|'[^']*'|\"[^\"]*\"", "…", last)[:90]


class Worker:
    """Tries inputs of one kind under the engine, and notes what they broke: one input for each cause."""

    def __init__(self, kind: Kind, world: World, folder: Path) -> None:
        self._kind, self._world, self._seen = kind, world, set[str]()
        self._failures = folder / "failures"
        self._failures.mkdir(parents=True, exist_ok=True)

    def try_one(self, data: bytes) -> None:
        """Called by the engine."""
        self._world.is_whole = self._world.count % WHOLE_EVERY == WHOLE_EVERY - 1
        why = tried(self._world, self._kind, data)
        if why is not None and signature(why) not in self._seen:
            self._seen.add(signature(why))
            path = self._failures / sha256(data).hexdigest()[:12]
            path.write_bytes(data)
            path.with_suffix(".why").write_text(
                f"whole: {self._world.is_whole}\n{why}", encoding="utf-8", errors="replace"
            )


def replay(kind: Kind, files: list[Path]) -> int:
    """Give inputs again, inside this process and as whole processes; print what they break."""
    broken = 0
    with temporary_world() as world:
        for path in files:
            for world.is_whole in (False, True):
                why = tried(world, kind, path.read_bytes())
                broken += why is not None
                if why is not None:
                    print(f"{path}{' (whole processes)' if world.is_whole else ''}\n{why}")
    return FAILED if broken else 0


def search(name: str, seconds: int, folder: Path, scratch: Path | None, corpus: list[str], seed: int) -> None:
    """Try inputs until the time is over. The engine ends the process, so the caller removes what is in `scratch`."""
    import atheris

    atheris.instrument_imports(include=["unified_state"]).__enter__()  # also for what the product imports late
    from tests.campaign.kind_table import KINDS
    from tests.campaign.mutate import LONGEST, Mutator

    kind = KINDS[name]
    mutator = Mutator(kind.words, lambda data, longest: atheris.Mutate(data, longest))  # noqa: PLW0108  # `Fuzz` sets it
    folder = folder.resolve()
    new, seeds = folder / "corpus", folder / "seeds"
    for path in (new, seeds):
        path.mkdir(parents=True, exist_ok=True)
    for data in kind.seeds():
        (seeds / sha256(data).hexdigest()[:12]).write_bytes(data)
    with temporary_world(scratch) as world:
        worker = Worker(kind, world, folder)
        options = [
            f"-seed={seed}",
            f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-artifact_prefix={folder}/failures/", "-timeout=0",
            "-rss_limit_mb=4096", "-print_final_stats=1", "-len_control=0", "-reload=0", "-report_slow_units=1000",
        ]  # fmt: skip
        folders = [str(new), str(seeds), *(os.path.abspath(path) for path in corpus)]
        atheris.Setup([sys.argv[0], *options, *folders], worker.try_one, custom_mutator=mutator.mutate)
        atheris.Fuzz()


def main(arguments: list[str]) -> int:
    """Run a worker; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--found", type=Path, default=Path("campaign"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scratch", type=Path, help="where the inputs meet the product; it is not emptied")
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("files", nargs="*")
    given: Any = parser.parse_intermixed_args(arguments)
    if given.replay:
        from tests.campaign.kind_table import KINDS

        return replay(KINDS[given.kind], [Path(file).resolve() for file in given.files])
    search(given.kind, given.seconds, given.found, given.scratch, given.files, given.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
