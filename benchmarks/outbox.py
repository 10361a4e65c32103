"""Whether everything reaches the server once, whatever happens on the way.

    python -m benchmarks.outbox [--steps 100000] [--faults 50]

An archive grows bit by bit, with forks among its sessions and things that are forgotten, while `unified-state sync`
runs again and again. Each run meets a fault at a random moment: it is killed, the server restarts as after a crash,
or the network between them is cut. At the end the server is compared with the archive, record by record.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from benchmarks.cutting_proxy import CuttingProxy
from benchmarks.local_postgres import ORGANISATION, LocalPostgres
from benchmarks.side_by_side import clean_environment
from tests.passwd import set_home
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.archive.write_steps import StepWriter
from unified_state.lib.record import Record
from unified_state.lib.text import pack
from unified_state.model.constraint import USER_SAID
from unified_state.model.history_records import HistoryRecord, StoredSession, StoredStep, Tombstone
from unified_state.model.step import PROMPT, TEXT, Step
from unified_state.project.place import Place, locate
from unified_state.upkeep.forget.forget_refs import Wanted, forget_wanted
from unified_state.upkeep.history.archive_rows import everything

PROGRAM = str(Path(sys.prefix) / "bin" / "unified-state")
_NOW = 1_790_000_000_000
_LONGEST = 2.0  # seconds after which a fault strikes
_LAST_TRIES = 50
_FORGOTTEN = 0.15  # how likely something is forgotten before a run


class Outcome(Record):
    """What there is in the end, and what struck: how often a running sync was hit by which fault."""

    steps: int
    missing: int
    surplus: int
    twice: int
    struck: dict[str, int]
    seconds: float


class World:
    """A project with an archive, a home whose settings name the server, and the network between them."""

    def __init__(self, folder: Path, server: LocalPostgres, proxy: CuttingProxy) -> None:
        self.server, self.proxy = server, proxy
        self.project, self.home = folder / "project", folder / "home"
        self.project.mkdir()
        config = self.home / ".config" / "unified-state" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            f'postgres_enabled = true\npostgres_dsn = "{server.dsn(proxy.folder)}"\n'
            f'postgres_organisation = "{ORGANISATION}"\n',
            encoding="utf-8",
        )
        set_home(self.home)  # settings that name a server count only in the user's own home
        self.environment = clean_environment(HOME=str(self.home))
        self.place: Place = locate(str(self.project), str(self.home / ".local/share/unified-state"), create=True)
        self._written = 0
        with Archive(self.place.archive_path) as archive:
            server.agree(archive, self.place.id or "")

    def write(self, steps: int) -> None:
        """The archive grows: sessions of a hundred steps, each the fork of the one before by its last ten."""
        with Archive(self.place.archive_path) as archive:
            end = self._written + steps
            while self._written < end:
                number = self._written // 100
                with archive.transaction(durable=False):
                    session = touch_session(archive, f"session-{number}", _NOW + number)
                    writer = StepWriter(archive, session, None)
                    first = max(0, self._written - 10) if self._written % 100 == 0 else self._written
                    for place in range(first, min(end, (number + 1) * 100)):
                        step = _step(place)
                        writer.add(step, pack(step.text))
                self._written = min(end, (number + 1) * 100)

    def forget(self, step: int) -> None:
        """Forget one step, which the server may have or not."""
        with Archive(self.place.archive_path) as archive:
            forget_wanted(archive, Wanted(f"S{step}"), 0, USER_SAID)

    def sync(self) -> subprocess.Popen[bytes]:
        """Begin a sync."""
        silent = subprocess.DEVNULL
        return subprocess.Popen([PROGRAM, "sync"], cwd=self.project, env=self.environment, stdout=silent, stderr=silent)


def _step(number: int) -> Step:
    is_prompt = number % 10 == 0
    text = f"step {number} of the long way to the server, with its retries and its timeouts 路 {number % 97} " * 3
    uuid = f"{number:08x}-0000-4000-8000-000000000000"
    return Step(uuid, 0, PROMPT if is_prompt else TEXT, _NOW + number, text, starts_turn=is_prompt)


def run(steps: int, faults: int, seed: int = 1) -> Outcome:
    """Grow, sync and strike until all faults have struck; then sync to the end, and compare."""
    begin = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="us-outbox-") as name,
        LocalPostgres() as server,
        CuttingProxy(server.socket) as proxy,
    ):
        world = World(Path(name), server, proxy)
        struck = _strike(world, steps, faults, random.Random(seed))
        for _ in range(_LAST_TRIES):
            if world.sync().wait() == 0:
                break
            time.sleep(0.1)
        else:
            message = f"{_LAST_TRIES} runs of sync in a row failed without a fault"
            raise RuntimeError(message)
        return _compared(world, struck, time.monotonic() - begin)


def _strike(world: World, steps: int, faults: int, chance: random.Random) -> Counter[str]:
    """A sync that ends before its fault could strike does not count; then the next fault strikes earlier."""
    struck: Counter[str] = Counter()
    longest, written = _LONGEST, 0
    while (number := sum(struck.values())) < faults:
        share = min(steps - written, -(-steps // (faults * 3 // 2)))
        world.write(share)
        written += share
        if chance.random() < _FORGOTTEN:
            world.forget(chance.randrange(1, written))
        process = world.sync()
        name, strike = _fault(world, process, number)
        try:
            process.wait(chance.uniform(0.1, longest))
            longest = max(0.3, longest * 0.9)
        except subprocess.TimeoutExpired:
            strike()
            struck[name] += 1
            longest = min(_LONGEST, longest * 1.05)
        process.wait()
    world.write(steps - written)
    return struck


def _fault(world: World, process: subprocess.Popen[bytes], number: int) -> tuple[str, Callable[[], object]]:
    faults: list[tuple[str, Callable[[], object]]] = [
        ("kill", lambda: os.kill(process.pid, signal.SIGKILL)),
        ("cut", world.proxy.cut),
        ("restart", world.server.restart),
    ]
    return faults[number % len(faults)]


def _compared(world: World, struck: Counter[str], seconds: float) -> Outcome:
    with Archive(world.place.archive_path) as here, world.server.store(world.place.id or "") as there:
        wanted, found = Counter(_keys(everything(here))), Counter(_keys(there.own_records()))
    return Outcome(
        steps=sum(1 for key in found if key[0] == "step"),
        missing=sum((wanted - found).values()),
        surplus=sum((found - wanted).values()),
        twice=sum(count - 1 for count in found.values()),
        struck=dict(struck),
        seconds=round(seconds, 1),
    )


def _keys(records: Iterable[HistoryRecord]) -> Iterator[tuple[object, ...]]:
    """All that a store holds, each by its name and what it says."""
    for record in records:
        if isinstance(record, StoredSession):
            yield ("session", record.session_id, record.seen_at)
        elif isinstance(record, StoredStep):
            yield ("step", record.session_id, record.uuid, record.block, record.text, record.starts_turn)
        elif isinstance(record, Tombstone):
            yield ("tombstone", record.what, record.key)


def main() -> None:
    """Run it at the size that was asked for, print what came out, and fail where anything is missing or surplus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    outcome = run(options.steps, options.faults, options.seed)
    struck = ", ".join(f"{count} {name}s" for name, count in sorted(outcome.struck.items()))
    print(f"{outcome.steps:,} steps on the server, told through {struck} of a running sync, in {outcome.seconds} s")
    print(f"missing {outcome.missing}, surplus {outcome.surplus}, twice {outcome.twice}")
    sys.exit(bool(outcome.missing or outcome.surplus or outcome.twice))


if __name__ == "__main__":
    main()
