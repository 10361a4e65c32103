"""What a team's server costs: processor time of an append, a search and an admission, many clients, and recall.

    python -m benchmarks.team [--steps 20000] [--copies 9] [--members 2000] [--clients 500 --roles 200]
    python -m benchmarks.team --recall FILE

Steps are sent in batches of 500, and copied on the server. Times are of processors: the server's, and this program's.
Clients ask through PgBouncer in transaction mode, all roles in turn, and their time is that of a clock, with the
machine's other work in it. --recall asks the questions of LoCoMo (see `benchmarks.locomo`) of an archive and, as a
member without one, of the server that it was sent to.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

from benchmarks.arguments import described
from benchmarks.conversations import write_transcripts
from benchmarks.locomo import load_conversations
from benchmarks.retrieval import scores
from benchmarks.temporary_project import temporary_workspace
from tests.extras.team.team import PROJECT, Team, found, make_database, send
from tests.pgbouncer import pooling
from tests.postgres_server import PostgresServer, end_server, start_server
from unified_state.archive.archive import Archive
from unified_state.capture.ingest import find_transcripts, ingest
from unified_state.extras.team.search_team import find_in_team
from unified_state.extras.team.sync_server import sync
from unified_state.extras.team.team_server import TeamServer, agree
from unified_state.model.history_records import StoredStep
from unified_state.search.find import SearchRequest
from unified_state.search.search_archive import search

_TICKS = os.sysconf("SC_CLK_TCK")
_WORDS, _BATCH, _MORE, _FIRST = 30_000, 500, 5_000, 1_760_000_000_000
_COPY = """
INSERT INTO unified_state.record (project, author, id, kind, at, version, archive, ref, part_of, body, words)
SELECT project, author, substring(encode(sha256(('step:' || name || '/0')::bytea), 'hex') FOR 32)::uuid, kind,
    at - number * 1000000, version, archive, 'S' || place, part_of, replace(body, body::jsonb->>'uuid', name), words
FROM unified_state.record, generate_series(1, %s::integer) AS number,
    LATERAL (SELECT substr(ref, 2)::bigint + number * 1000000) AS s (place),
    LATERAL (SELECT lpad(to_hex(place), 32, '0')::uuid::text) AS u (name) WHERE kind = 'step'
"""
_WORDS_INDEX = "CREATE INDEX record_words ON unified_state.record USING gin (words)"


def made_steps(many: int, first: int = 0) -> Iterator[StoredStep]:
    """Steps of 20 to 300 words, which are as frequent as in a language."""
    chosen = random.Random(first)
    weights = list(accumulate(1 / (place + 1) for place in range(_WORDS)))
    for number in range(first + 1, first + many + 1):
        words = chosen.choices(range(_WORDS), cum_weights=weights, k=chosen.randint(20, 300))
        text = " ".join(f"w{word:x}" for word in words)
        at, session = _FIRST + number, f"s{number // 1000}"
        yield StoredStep(
            uuid=str(UUID(int=number)), block=0, at=at, kind="text", tool=None, text=text, session_id=session
        )


def seconds_of(server: PostgresServer) -> float:
    """The processor time of a server's processes, also of those that ended."""
    parent = (server.folder / "postmaster.pid").read_text().split()[0]
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        own = stat.parent.name == parent
        total += sum(map(int, fields[11 : 15 if own else 13])) if own or fields[1] == parent else 0
    return total / _TICKS


@contextmanager
def a_team() -> Iterator[Team]:
    """A team on a server of its own."""
    folder = Path(tempfile.mkdtemp(prefix="t-"))  # short: the path of a socket has at most 107 characters
    folder.chmod(0o755)
    try:
        with ExitStack() as stack:
            server = start_server(folder / "data", more="max_connections = 400\nshared_buffers = 512MB\n")
            yield Team(server, make_database(server), stack)
    finally:
        end_server(folder)


def measured(team: Team, name: str, times: int, act: Callable[[], object]) -> None:
    """Print what each of some times cost."""
    before = seconds_of(team.postgres), time.process_time()
    act()
    server, own = seconds_of(team.postgres) - before[0], time.process_time() - before[1]
    print(f"{name:44} {server / times * 1e3:8.2f} ms server {own / times * 1e3:8.2f} ms client", flush=True)


def costs(team: Team, steps: int, copies: int, members: int) -> None:
    """Append, search and admit."""
    store = team.open("ada")
    team.admit("bob")

    def append(begin: int, end: int) -> None:
        for place in range(begin, end, _BATCH):
            send(store, *made_steps(_BATCH, place), first=place + 1)

    measured(team, f"a step, the first {steps:,}", steps, lambda: append(0, steps))
    superuser = team.superuser()
    superuser.execute("VACUUM ANALYZE unified_state.record")  # as it is done by itself within a minute
    searches(team, steps)
    if copies:
        superuser.execute("SET statement_timeout = 0; SET maintenance_work_mem = '1GB'")
        superuser.execute("DROP INDEX unified_state.record_words")  # made anew it takes a tenth of the time
        superuser.execute(_COPY, [copies])
        superuser.execute(_WORDS_INDEX)
        superuser.execute("VACUUM ANALYZE unified_state.record")
        total = steps * (copies + 1)
        measured(team, f"a step, behind {total:,}", _MORE, lambda: append(steps, steps + _MORE))
        searches(team, total)
    for number in range(members):
        team.admit(f"member {number}")
    measured(team, f"an admission, behind {members:,}", 50, lambda: [team.admit(f"late {n}") for n in range(50)])


def asked() -> list[list[str]]:
    """Queries of three words: frequent, common and rare ones in turn."""
    chosen = random.Random(7)
    return [
        [f"w{chosen.randrange(low, high):x}" for _ in range(3)]
        for _ in range(7)
        for low, high in ((5, 50), (50, 500), (500, 20_000))
    ]


def searches(team: Team, total: int) -> None:
    """Search as a member without an archive, of whom the server tells everything."""
    server, queries = TeamServer(found(team.dsn("bob")), team.organisation, PROJECT), asked()
    with temporary_workspace() as (empty, _):
        for place, name in enumerate(("frequent", "common", "rare")):
            wanted = [SearchRequest(query=" ".join(words)) for words in queries[place::3]]
            find_in_team(empty, server, wanted[0], _FIRST, 60.0)
            find = partial(find_in_team, empty, server, now=_FIRST, seconds=60.0)
            measured(team, f"a search of {total:,}, {name} words", len(wanted), partial(list, map(find, wanted)))


def clients(team: Team, many: int, roles: int, seconds: float = 20.0) -> None:
    """Let clients ask at once, through a pool."""
    for number in range(roles):
        team.admit(f"role {number}")
    (project,) = team.superuser().execute("SELECT id FROM unified_state.project").fetchone() or (0,)
    call = "SELECT * FROM unified_state.candidates(%s, %s::tsquery, ARRAY[%s]::tsquery[], ARRAY[1.0], NULL, 100)"
    logins, queries = list(team.logins.values())[-roles:], asked()
    took: list[float] = []

    async def one(number: int, at: dict[str, Any], end: float) -> None:
        dsn = team.postgres.dsn(team.database, logins[number % len(logins)], **at)
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True, prepare_threshold=None) as connection:
            chosen = random.Random(number)
            while time.monotonic() < end:
                await asyncio.sleep(chosen.uniform(0, 20))  # a person's pace
                words = " & ".join(f"'{word}'" for word in chosen.choice(queries))
                begin = time.monotonic()
                await (await connection.execute(call, [project, words, words])).fetchall()
                took.append(time.monotonic() - begin)

    async def all_of_them(at: dict[str, Any]) -> None:
        end = time.monotonic() + seconds
        await asyncio.gather(*(one(number, at, end) for number in range(many)))

    with pooling(team.postgres, logins, 1) as at:
        asyncio.run(all_of_them(at))
    middle, high = statistics.median(took), statistics.quantiles(took, n=20)[-1]
    print(f"{many} clients, {len(logins)} roles: {len(took)} searches, median {middle:.3f} s, p95 {high:.3f} s")


def recall(team: Team, path: Path) -> None:
    """Ask an archive and the server that it was sent to the same questions."""
    kept: dict[str, list[dict[str, float]]] = {"the archive": [], "the team's server": []}
    for conversation in load_conversations(path):
        of = f"{PROJECT}-{conversation.name}"
        team.open("ada", of).close()
        team.open("bob", of).close()
        with temporary_workspace() as (workspace, folder), temporary_workspace() as (empty, _):
            turn_of = write_transcripts(conversation, folder)
            ingest(workspace, find_transcripts([str(folder)]), _FIRST, lambda _: None)
            hers, his = (TeamServer(found(team.dsn(one)), team.organisation, of) for one in ("ada", "bob"))
            with hers.open(begins=True) as store, Archive(workspace.place.archive_path) as archive:
                agree(archive, store)
            sync(workspace, hers, lambda: _FIRST)
            for question in conversation.questions:
                with Archive(workspace.place.archive_path) as archive:
                    here = search(archive, question.text, 20, now=_FIRST)
                there = find_in_team(empty, his, SearchRequest(query=question.text, limit=20), _FIRST, 60.0)
                for name, hits in zip(kept, (here, there), strict=True):
                    ranked = [turn_of[uuid] for hit in hits for uuid in hit.uuids]
                    kept[name].append(scores(ranked, question.evidence))
        print(conversation.name, file=sys.stderr, flush=True)
    for name, found_there in kept.items():
        means = {measure: statistics.fmean(one[measure] for one in found_there) for measure in found_there[0]}
        print(f"{name:20}", "  ".join(f"{measure} {mean:.3f}" for measure, mean in means.items()), len(found_there))


def main() -> None:
    """Measure on a server of one's own."""
    parser = described(__doc__)
    for name, default in (("steps", 20_000), ("copies", 9), ("members", 2_000), ("clients", 0), ("roles", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--recall", type=Path)
    given = parser.parse_args()
    with a_team() as team:
        if given.recall:
            recall(team, given.recall)
            return
        costs(team, given.steps, given.copies, given.members)
        if given.clients:
            clients(team, given.clients, given.roles)


if __name__ == "__main__":
    main()
