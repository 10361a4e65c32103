"""Every tier keeps every contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts import CONTRACTS, Contract
from unified_state.archive.journal.journalled_archive import JournalledArchive
from unified_state.upkeep.history.archive_store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.contracts import OpenStore


def _sqlite(folder: Path) -> OpenStore:
    return lambda project: SqliteStore(str(folder / project / "archive.db"))


class _JournalStore(SqliteStore):
    """The archive of a journal as a store."""

    def __init__(self, folder: Path) -> None:
        self._journalled = JournalledArchive(str(folder / "history.jsonl"), seconds=30.0)
        super().__init__("", archive=self._journalled)

    def close(self) -> None:
        self._journalled.connection.close()


def _json(folder: Path) -> OpenStore:
    return lambda project: _JournalStore(folder / project)


_TIERS: dict[str, Callable[[Path], OpenStore]] = {"sqlite": _sqlite, "json": _json}


@pytest.mark.parametrize("tier", _TIERS)
@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: f"{contract.number:02}-{contract.check.__name__}")
def test_every_tier_keeps_every_contract(tmp_path: Path, tier: str, contract: Contract) -> None:
    contract.check(_TIERS[tier](tmp_path))
