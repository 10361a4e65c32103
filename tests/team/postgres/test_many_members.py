"""What a request costs does not grow with the number of colleagues more than it has to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.contracts.contract import step
from unified_state.model.history_records import HistoryQuery

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer
    from tests.team.postgres.conftest import OpenAs

_CALLS = "SELECT calls FROM pg_stat_user_functions WHERE schemaname = 'unified_state' AND funcname = 'author'"
_JOIN = (
    "INSERT INTO unified_state.member (organisation, id, name) SELECT %s, n, 'm' || n FROM generate_series(1, %s) AS n"
)


def test_who_one_is_is_not_asked_for_each_colleague(
    postgres: PostgresServer, organisation: str, open_as: OpenAs
) -> None:
    members, database = 300, postgres.database()
    open_as(dbname=database).append([step(1, "the swordfish")])
    with postgres.admin(database) as superuser:
        superuser.execute(_JOIN, [organisation, members])
        superuser.execute(f"ALTER DATABASE {database} SET track_functions = 'all'")
    with open_as("ada", dbname=database) as store:
        assert store.search(HistoryQuery("swordfish"))
    with postgres.admin(database) as superuser:
        while not (found := superuser.execute(_CALLS).fetchone()) or not found[0]:
            pass  # counted once its connection has ended
    assert found[0] < members
