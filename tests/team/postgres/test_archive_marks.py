"""The numbers by which archives tell a server that was restored from a backup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg.errors import InsufficientPrivilege

from tests.postgres_server import PostgresServer
from tests.team.postgres.test_tenancy import claim
from unified_state.memory.history.store_protocol import KeepsMarks

if TYPE_CHECKING:
    from tests.team.postgres.conftest import OpenAs


def test_a_mark_only_grows_and_each_archive_has_its_own(open_as: OpenAs) -> None:
    store = open_as()
    assert isinstance(store, KeepsMarks)
    for mark in (2, 7, 3):
        store.marks.keep("laptop", mark)
    store.marks.keep("desktop\0", 1)
    read = open_as().marks.read
    assert (read("laptop"), read("desktop\0"), read("phone")) == (7, 1, 0)


def test_another_member_s_mark_is_another_one(open_as: OpenAs) -> None:
    open_as("ada").marks.keep("laptop", 7)
    grace = open_as("grace").marks
    assert grace.read("laptop") == 0
    grace.keep("laptop", 1)
    assert (open_as("ada").marks.read("laptop"), open_as(project="another").marks.read("laptop")) == (7, 0)


def test_nobody_puts_a_mark_in_for_another_one(open_as: OpenAs, postgres: PostgresServer, organisation: str) -> None:
    ada, _ = open_as("ada"), open_as("grace")
    ada.marks.keep("laptop", 7)
    with postgres.connect() as owner, owner.transaction():
        claim(owner, organisation, "p", "grace")
        changed = owner.execute("UPDATE unified_state.replica SET mark = 9 WHERE archive = 'laptop'").rowcount
        assert changed == 0
        with pytest.raises(InsufficientPrivilege), owner.transaction():
            owner.execute(
                "INSERT INTO unified_state.replica SELECT project, author, 'phone', 9 FROM unified_state.replica"
            )
