from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.postgres_server import PostgresServer
from unified_state.storage.tiers.contracts.contract import uuid

ROOT = Path(__file__).parents[4]
PROGRAM = """
import sys
from unified_state.records.history import HistoryQuery
from unified_state.storage.tiers.contracts.contract import step
from unified_state.storage.tiers.postgres.opening import open_postgres
with open_postgres(sys.argv[1], "p", organisation="mine", member="ada") as store:
    print(store.append([step(1, "swordfish")]), store.vectors.can_be_kept)
    print(store.search(HistoryQuery("swordfish"))[0].step.uuid)
"""


def test_an_embedded_server_keeps_history_and_ends_with_its_last_user(postgres: PostgresServer) -> None:
    folder = postgres.folder.parent / "embedded"  # a short path, since a socket's cannot be long
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, f"embedded:{folder}"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert [run.stdout for run in runs] == [f"1 True\n{uuid(1)}\n", f"0 True\n{uuid(1)}\n"]
    assert [run.stderr for run in runs] == ["", ""]
    assert not (folder / "postmaster.pid").exists()
