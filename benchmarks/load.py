"""How many searches a second a team's server answers, and how late, by how many clients ask at once.

    python -m benchmarks.load [--steps 20000] [--clients 1,16,100,500,1000] [--seconds 6]

On a plain server, through PgBouncer, and on Citus with one, two and three workers, also through PgBouncer. pgbench
sends the product's statements. Everything shares this machine's processors: the columns to compare are the processor
time and the nodes of a search; that more nodes answer more cannot be seen here.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from psycopg import Cursor, sql

from benchmarks.scale_tiers import written_steps
from benchmarks.search import QUERIES
from tests.citus_server import CitusServer, citus_programs, start_citus
from tests.pgbouncer import pooling
from tests.postgres_server import OWNER, PostgresServer, end_server, start_server
from unified_state.lib.record import Record
from unified_state.model.history_records import HistoryQuery
from unified_state.team.postgres.postgres_store import open_postgres

_PGBENCH = "/usr/lib/postgresql/15/bin/pgbench"
_PROJECTS, _POOL, _TICKS = 4, 8, 100
_ASKED = tuple(query for queries in QUERIES.values() for query in queries)


class Load(Record):
    """What one number of clients met: answers a second, milliseconds, and milliseconds of the server's processor."""

    goodput: float
    p95: float
    processor: float


def main(arguments: list[str] | None = None) -> int:
    """Measure all kinds of servers, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--clients", default="1,16,100,500,1000")
    parser.add_argument("--seconds", type=int, default=6)
    given = parser.parse_args(arguments)
    clients = [int(number) for number in given.clients.split(",")]
    print("searches/s · p95 in ms · processor in ms a search, by clients")
    print(f"{'':22}" + "".join(f"{number:>22}" for number in clients))
    for name, nodes in (("plain", 0), ("Citus, 1 worker", 1), ("Citus, 2 workers", 2), ("Citus, 3 workers", 3)):
        with _server(nodes) as server, tempfile.TemporaryDirectory() as folder:
            scripts = _fill(server, given.steps, Path(folder))
            if not nodes:
                direct = {"host": server.folder, "port": server.port}
                _print(name, [_ask(server, direct, scripts, number, given.seconds) for number in clients])
            with pooling(server, [OWNER], _POOL) as pooled:
                loads = [_ask(server, pooled, scripts, number, given.seconds) for number in clients]
                _print(f"{name}, pool", loads)
    return 0


@contextmanager
def _server(workers: int) -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="us-load-"))
    folder.chmod(0o755)
    try:
        yield start_citus(folder / "nodes", workers) if workers else start_server(folder / "plain", citus_programs())
    finally:
        end_server(folder)


def _fill(server: PostgresServer, steps: int, folder: Path) -> list[Path]:
    """Fill some projects, and write a script for pgbench for each query of each."""
    written, scripts = written_steps(steps), list[Path]()
    for number in range(_PROJECTS):
        with open_postgres(server.dsn(), f"p{number}", organisation="acme", member="ada") as store:
            for _ in range(steps // _PROJECTS // 2000):
                store.append(list(itertools.islice(written, 2000)))
            for query in random.Random(number).sample(_ASKED, 6):
                path = folder / f"{number}-{len(scripts)}.sql"
                path.write_text(_statements(store, query))
                scripts.append(path)
    with server.admin("shared") as connection:
        connection.execute("ANALYZE")
    return scripts


def _statements(store: Any, query: str) -> str:
    """The statements of a search, as the store sends them."""
    sent: list[str] = []
    with store._connections.one() as connection:  # noqa: SLF001  # its statements are what is measured
        connection.cursor_factory = type("Noting", (_Noting,), {"sent": sent})
    store.search(HistoryQuery(query, limit=10))
    return "".join(f"{statement};\n" for statement in ("BEGIN", *sent, "COMMIT"))


def _ask(server: PostgresServer, where: dict[str, Any], scripts: list[Path], clients: int, seconds: int) -> Load | None:
    """Let so many clients ask for some seconds; None if the server refuses them."""
    with tempfile.TemporaryDirectory() as folder:
        before = _processor(server)
        files = [argument for script in scripts for argument in ("-f", str(script))]
        place = ["-h", str(where["host"]), "-p", str(where["port"]), "-U", OWNER, "shared"]
        timed = ["-n", "-M", "simple", "-c", str(clients), "-j", "2", "-T", str(seconds), "--log"]
        done = subprocess.run([_PGBENCH, *timed, *files, *place], cwd=folder, capture_output=True, check=False)
        if done.returncode:
            return None
        lines = [line.split() for log in Path(folder).glob("pgbench_log.*") for line in log.read_text().splitlines()]
    late = sorted(int(line[2]) / 1000 for line in lines)
    spent = (_processor(server) - before) * 1000 / len(late)
    ends = [int(line[4]) + int(line[5]) / 1e6 for line in lines]
    begun = min(end - int(line[2]) / 1e6 for end, line in zip(ends, lines, strict=True))
    return Load(goodput=len(late) / (max(ends) - begun), p95=statistics.quantiles(late, n=20)[-1], processor=spent)


def _processor(server: PostgresServer) -> float:
    """Seconds of the processor that all of a server's processes have used, of all nodes."""
    nodes = server.nodes if isinstance(server, CitusServer) else [server]
    ticks = 0
    for node in nodes:
        main_process = (node.folder / "postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{main_process}/task/{main_process}/children").read_text().split()
        ticks += sum(_used(process, 4) for process in [main_process])
        ticks += sum(_used(process, 2) for process in children)
    return ticks / _TICKS


def _used(process: str, columns: int) -> int:
    try:
        return sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11 : 11 + columns]))
    except FileNotFoundError:
        return 0


def _print(name: str, loads: list[Load | None]) -> None:
    shown = ("refused" if one is None else f"{one.goodput:.0f} · {one.p95:.0f} · {one.processor:.1f}" for one in loads)
    print(f"{name:22}" + "".join(f"{text:>22}" for text in shown), flush=True)


class _Noting(Cursor[Any]):
    """A cursor that notes its statements with their values."""

    sent: list[str]

    def execute(self, query: Any, params: Any = None, **others: Any) -> Any:
        self.sent.append(_with_values(query, params, self.connection))
        return super().execute(query, params, **others)


def _with_values(query: str, params: Any, connection: Any) -> str:
    if params is None:
        return query
    written = {name: sql.Literal(value).as_string(connection) for name, value in _named(params).items()}
    return " ".join((query % written if isinstance(params, dict) else query % tuple(written.values())).split())


def _named(params: Any) -> dict[Any, Any]:
    return params if isinstance(params, dict) else dict(enumerate(params))


if __name__ == "__main__":
    sys.exit(main())
