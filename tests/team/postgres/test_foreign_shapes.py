"""A record of a colleague that is no record of ours takes nothing from a search but itself, and is counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.contracts.contract import decision, session, step, texts, uuid
from tests.team.postgres.test_tenancy import claim
from unified_state.errors import NotFoundError, StorageError
from unified_state.memory.history.store_protocol import everything
from unified_state.model.history_records import HistoryQuery
from unified_state.search.find import Wanted
from unified_state.team.search_team import find_in_team, recall_of_team
from unified_state.team.sync_server import Server

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer
    from tests.team.postgres.conftest import OpenAs
    from unified_state.memory.workspace.workspace import Workspace

GOOD = {
    "uuid": uuid(1_000_001),
    "alias": "D1",
    "kind": "decision",
    "body": {"decision": "swordfish"},
    "status": "active",
    "origin": "user_said",
    "createdAt": "2026-01-01T00:00:00.000Z",
}
NONE: Any = object()
WRONG: tuple[Any, ...] = (NONE, None, 5, ["x"], {"x": []}, "")
SHAPES: list[dict[str, Any] | str] = [
    *({**GOOD, name: value} for name in GOOD for value in WRONG),
    {**GOOD, "kind": "evidence of a newer version"},
    {**GOOD, "body": {"decision": 5}},
    {**GOOD, "files": "a.py"},
    {**GOOD, "unknown": 5},
    "[" * 100_000,
    '{"uuid": ' + "9" * 5_000 + "}",
    "{}",
    "[1]",
]


def written(shape: dict[str, Any] | str) -> str:
    """The text of a record; what is NONE is left out."""
    if isinstance(shape, str):
        return shape
    return json.dumps({name: value for name, value in shape.items() if value is not NONE})


def change(postgres: PostgresServer, organisation: str, statement: str, *values: object) -> None:
    """Change rows of ada's as she can by hand."""
    with postgres.connect() as connection:
        claim(connection, organisation, "p", "ada")
        assert connection.execute(statement, values).rowcount > 0


@pytest.fixture
def server(open_as: OpenAs) -> Server:
    """The server as bob has it."""
    return Server("a server", lambda: open_as("bob"))


@pytest.fixture
def reported(workspace: Workspace) -> list[str]:
    """What bob is told beside the hits."""
    return []


def search(workspace: Workspace, server: Server, reported: list[str], limit: int = 10) -> list[str]:
    """The texts that bob finds."""
    wanted = Wanted("swordfish", limit)
    return [hit.text for hit in find_in_team(workspace.replace(report=reported.append), server, wanted, 0)]


def test_any_shape_of_an_item_is_left_out_counted_and_hides_no_other(
    postgres: PostgresServer,
    open_as: OpenAs,
    organisation: str,
    workspace: Workspace,
    server: Server,
    reported: list[str],
) -> None:
    ada = open_as("ada")
    ada.append([decision(number, f"D{number}", "swordfish") for number in range(2, len(SHAPES) + 2)])
    for number, shape in enumerate(SHAPES, 2):
        sql = "UPDATE unified_state.item SET record = %s WHERE uuid = %s"
        change(postgres, organisation, sql, written(shape), uuid(1_000_000 + number))
    open_as("carol").append([decision(900, "D900", "the swordfish is cold")])
    found = search(workspace, server, reported, limit=3)  # broad words alone take no places either
    accepted = [text for text in found if "cold" not in text]
    assert len(found) - len(accepted) == 1
    assert all("swordfish" in text for text in accepted)
    (line,) = reported
    assert "damaged on the team's server and not shown" in line
    store = open_as("bob")
    assert "D900" in [item.alias for item in store.items()]
    assert [item.alias for item in store.find_items("D900")] == ["D900"]


def test_one_without_uuid_is_told_by_its_ref(
    postgres: PostgresServer, open_as: OpenAs, organisation: str, workspace: Workspace, server: Server
) -> None:
    open_as("ada").append([decision(1, "D1", "swordfish")])
    (hit,) = open_as("bob").team.search("swordfish", 10)
    shape = {name: value for name, value in GOOD.items() if name != "uuid"}
    change(postgres, organisation, "UPDATE unified_state.item SET record = %s", json.dumps(shape))
    with pytest.raises(StorageError, match="is damaged on the team's server"):
        recall_of_team(server, f"team:D{hit.number}")
    with pytest.raises(NotFoundError):
        recall_of_team(server, "team:D999999")
    reported: list[str] = []
    assert search(workspace, server, reported) == []
    assert reported == [
        "1 record of a colleague is damaged on the team's server and not shown; all others were searched"
    ]


@pytest.mark.parametrize(
    "change_to",
    ["unknown = '['", "uuid = ''", r"uuid = '\x01ff'"],
)
def test_a_step_of_another_shape_is_left_out_and_a_sync_asks_for_its_entry(
    postgres: PostgresServer,
    open_as: OpenAs,
    organisation: str,
    workspace: Workspace,
    server: Server,
    reported: list[str],
    change_to: str,
) -> None:
    open_as("ada").append([session(), step(1, "the swordfish"), step(2, "another swordfish")])
    change(postgres, organisation, f"UPDATE unified_state.step SET {change_to} WHERE number %% 2 = 0")
    assert len(search(workspace, server, reported)) == 1
    assert len(reported) == 1
    found = [one for number in (1, 2) for one in open_as("bob").find_steps(uuid(number))]
    assert len(found) == 1


def test_ones_own_damaged_record_is_told_and_a_sync_writes_on(
    postgres: PostgresServer, open_as: OpenAs, organisation: str
) -> None:
    ada = open_as("ada")
    ada.append([decision(1, "D1", "swordfish"), decision(2, "D2", "eel")])
    change(postgres, organisation, "UPDATE unified_state.item SET record = '{}' WHERE alias = 'D1'")
    with pytest.raises(StorageError, match="a record on the server is damaged"):
        list(everything(ada))
    assert ada.append([step(1, "the swordfish")]) == 1
    assert texts([hit.step for hit in ada.search(HistoryQuery("swordfish"))]) == ["the swordfish"]
