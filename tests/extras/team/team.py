"""A team for tests: a database with our schema, an organisation of the test's own, and its members."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from unified_state.extras.team.postgres.record_store import TeamStore
from unified_state.extras.team.postgres.server_dsn import Server, find_server
from unified_state.extras.team.postgres.set_up_server import Admission, admit_member, init_server
from unified_state.extras.team.rows import OutgoingRecord
from unified_state.model.history_records import StoredStep

if TYPE_CHECKING:
    from psycopg import Connection

    from tests.postgres_server import PostgresServer

PROJECT = "github.com/acme/app"


def found(dsn: str) -> Server:
    """The server of a DSN."""
    return find_server(dsn, {}, trusts_environment=True)


class Team:
    """Members log in by roles of their own. What is opened is closed after the test."""

    def __init__(self, postgres: PostgresServer, database: str, stack: ExitStack) -> None:
        self.postgres, self.database, self._stack = postgres, database, stack
        self.organisation = f"o{uuid4().hex[:10]}"
        self.logins: dict[str, str] = {}

    @property
    def administrator(self) -> Server:
        """The server as a superuser."""
        return found(self.postgres.dsn(self.database, "postgres"))

    def admit(self, member: str, **fields: Any) -> str:
        """Let a member in; the role."""
        given = {"organisation": self.organisation, **fields}
        self.logins[member] = str(admit_member(self.administrator, Admission(member=member, **given))["role"])
        return self.logins[member]

    def dsn(self, member: str) -> str:
        """How a member reaches the server."""
        return self.postgres.dsn(self.database, self.logins[member])

    def open(self, member: str = "ada", project: str = PROJECT, *, begins: bool = True, of: str = "") -> TeamStore:
        """The records as a member sees them, who is admitted if he was not."""
        if member not in self.logins:
            self.admit(member)
        store = TeamStore(found(self.dsn(member)), of or self.organisation, project, begins=begins)
        self._stack.callback(store.close)
        return store

    def connect(self, member: str) -> Connection[Any]:
        """A connection that he uses as he likes."""
        connection = self.postgres.connect(self.database, self.logins[member])
        self._stack.callback(connection.close)
        return connection

    def superuser(self) -> Connection[Any]:
        """A connection that nothing holds back."""
        connection = self.postgres.admin(self.database)
        self._stack.callback(connection.close)
        return connection


def sent(*records: Any, first: int = 1) -> list[OutgoingRecord]:
    """The records as an outbox gives them: steps are called by their places."""
    return [
        OutgoingRecord(one, f"S{place}" if isinstance(one, StoredStep) else None)
        for place, one in enumerate(records, first)
    ]


def send(store: TeamStore, *records: Any, archive: str = "laptop", first: int = 1) -> int:
    """Send records as one batch; how many are new or changed."""
    return store.append(sent(*records, first=first), archive, store.mark(archive) + 1)


def make_database(postgres: PostgresServer, name: str = "") -> str:
    """A database with our schema, in one that is there already, or in a new one."""
    name = name or f"team_{uuid4().hex[:12]}"
    init_server(found(postgres.dsn(name, "postgres")))
    return name
