from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.postgres_server import PostgresServer
from unified_state.team.postgres.postgres_store import open_postgres

if TYPE_CHECKING:
    from unified_state.team.postgres.postgres_store import PostgresStore

OpenAs = Callable[..., "PostgresStore"]


@pytest.fixture
def organisation() -> str:
    """An organisation of the test's own, in the database that tests share."""
    return f"org-{uuid4().hex}"


@pytest.fixture
def open_as(postgres: PostgresServer, organisation: str) -> Iterator[OpenAs]:
    """Open a store as a member; what was opened is closed after the test."""
    with ExitStack() as stack:

        def opened(
            member: str = "ada",
            project: str = "p",
            of: str = "",
            dsn: str = "",
            *,
            own_only: bool = False,
            **parameters: Any,
        ) -> PostgresStore:
            return stack.enter_context(
                open_postgres(
                    dsn or postgres.dsn(**parameters),
                    project,
                    organisation=of or organisation,
                    member=member,
                    own_only=own_only,
                )
            )

        yield opened
