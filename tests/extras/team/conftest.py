from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.extras.team.team import Team, make_database

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def team_database(postgres: PostgresServer) -> str:
    """A database that tests share; each has an organisation of its own."""
    return make_database(postgres)


@pytest.fixture
def team(postgres: PostgresServer, team_database: str) -> Iterator[Team]:
    """A team of the test's own."""
    with ExitStack() as stack:
        yield Team(postgres, team_database, stack)


@pytest.fixture
def other(team: Team) -> Iterator[Team]:
    """Another organisation in the same database."""
    with ExitStack() as stack:
        yield Team(team.postgres, team.database, stack)
