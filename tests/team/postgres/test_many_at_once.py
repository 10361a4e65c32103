"""Many processes at once: making the schema, and appending."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.contracts.contract import step, steps_of
from tests.postgres_server import PostgresServer
from unified_state.team.postgres.schema.server_migrations import SCHEMA_VERSION

if TYPE_CHECKING:
    from tests.team.postgres.conftest import OpenAs
    from unified_state.model.history_records import StoredStep

ROOT = Path(__file__).parents[3]
WRITERS, BATCHES, BATCH = 8, 5, 20
WRITER = """
import sys
dsn, organisation, number, batches, size = sys.argv[1:]
from tests.contracts.contract import step
from unified_state.team.postgres.postgres_store import open_postgres
with open_postgres(dsn, "p", organisation=organisation, member="ada") as store:
    for batch in range(int(batches)):
        first = 1 + batch * int(size)
        own = [step(int(number) * 1000 + first + one, session_id=f"own-{number}") for one in range(int(size))]
        store.append([step(first + one, session_id="shared") for one in range(int(size))] + own)
"""


def test_eight_processes_make_the_schema_once_and_append_at_once(
    postgres: PostgresServer, organisation: str, open_as: OpenAs
) -> None:
    database = postgres.database()
    dsn = postgres.dsn(database)  # empty: all of them find no schema
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, dsn, organisation, str(number), str(BATCHES), str(BATCH)], cwd=ROOT
        )
        for number in range(1, WRITERS + 1)
    ]
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    store = open_as(dsn=dsn)
    shared = [step(number, session_id="shared") for number in range(1, 1 + BATCHES * BATCH)]
    assert steps_of(store, "shared") == shared  # whoever came first with a batch had it whole, and in order
    for number in range(1, WRITERS + 1):
        own = [step(number * 1000 + one, session_id=f"own-{number}") for one in range(1, 1 + BATCHES * BATCH)]
        assert steps_of(store, f"own-{number}") == own
    assert store.counts().steps == (WRITERS + 1) * BATCHES * BATCH
    with postgres.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM unified_state.version").fetchone() == (SCHEMA_VERSION,)


def test_who_reads_on_misses_nothing_that_others_append_meanwhile(open_as: OpenAs) -> None:
    from threading import Thread

    store = open_as()

    def write(number: int) -> None:
        for one in range(20):
            store.append([step(number * 100 + one, session_id="one")])

    threads = [Thread(target=write, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    seen: set[str] = set()
    page: list[tuple[int, StoredStep]] = []
    while any(thread.is_alive() for thread in threads):
        page = store.steps("one", page[-1][0] if page else 0, 7) or page
        seen |= {one.uuid for _, one in page}
    while page := store.steps("one", page[-1][0] if page else 0):
        seen |= {one.uuid for _, one in page}
    assert seen == {step(number * 100 + one).uuid for number in range(1, 5) for one in range(20)}
