"""Who reads and writes what: members of an organisation's projects and nobody else, each under his own name."""

from __future__ import annotations

import psycopg
import pytest

from tests.contracts.contract import session, step, turn
from tests.extras.team.team import PROJECT, Team, found, send
from unified_state.errors import NotFoundError, StorageError, UsageError
from unified_state.extras.team.postgres.record_store import TeamStore, readers
from unified_state.extras.team.postgres.set_up_server import (
    delete_project,
    init_server,
    list_members,
    move_project,
    remove_member,
)
from unified_state.model.history_records import StoredStep


def seen(store: TeamStore) -> int:
    """How many records of its project a member reads."""
    sql = "SELECT count(*) FROM unified_state.record WHERE kind = 'step'"
    with psycopg.connect(**store.server.parameters) as connection:  # type: ignore[arg-type]  # they are texts
        return int((connection.execute(sql).fetchone() or (0,))[0])


def test_members_of_a_project_read_each_other_and_another_organisation_reads_nothing(team: Team, other: Team) -> None:
    ada, bob, eve = team.open("ada"), team.open("bob"), other.open("eve")
    send(ada, session(), *turn(1))
    assert (seen(ada), seen(bob), seen(eve)) == (len(turn(1)), len(turn(1)), 0)
    assert [one for one in bob.own_records() if isinstance(one, StoredStep)] == []
    with pytest.raises(StorageError, match="no member of"):
        other.open("eve", of=team.organisation)


def test_a_member_of_some_projects_reads_no_other_one_and_begins_none(team: Team) -> None:
    team.admit("bob", projects=(PROJECT,))
    ada, bob = team.open("ada"), team.open("bob")
    send(ada, step(1))
    send(team.open("ada", "elsewhere"), step(2), step(3))
    assert (seen(ada), seen(bob)) == (3, 1)
    assert (readers(ada), readers(team.open("ada", "elsewhere"))) == (["ada", "bob"], ["ada"])
    with pytest.raises(StorageError):
        team.open("bob", "elsewhere")


def test_who_only_reads_writes_nothing(team: Team) -> None:
    team.admit("bob", writes=False)
    send(team.open("ada"), step(1))
    bob = team.open("bob", begins=False)
    assert seen(bob) == 1
    with pytest.raises(StorageError, match="row-level security"):
        send(bob, step(2))
    with pytest.raises(StorageError, match="may not write"):
        team.open("bob")


def test_who_is_removed_reads_nothing_at_once_and_what_he_sent_remains(team: Team) -> None:
    ada, bob = team.open("ada"), team.open("bob")
    send(bob, step(1))
    login = remove_member(team.administrator, team.organisation, "bob")
    with pytest.raises(StorageError):
        readers(bob)
    assert seen(ada) == 1
    with team.superuser() as superuser:
        assert superuser.execute("SELECT FROM pg_roles WHERE rolname = %s", [login]).fetchone() is None
    with pytest.raises(NotFoundError):
        remove_member(team.administrator, team.organisation, "bob")
    told = {one.member: one.login for one in list_members(team.administrator, team.organisation)}
    assert told == {"ada": team.logins["ada"], "bob": None}


def test_nobody_comes_back_by_a_name_alone(team: Team) -> None:
    """Neither a new role of that name, nor a new member of the same name."""
    send(team.open("ada"), step(1))
    bob = team.admit("bob")
    superuser = team.superuser()
    superuser.execute(f'REVOKE "unified_state:{team.organisation}" FROM "{bob}"; DROP ROLE "{bob}"')
    superuser.execute(f'CREATE ROLE "{bob}" LOGIN; GRANT CONNECT ON DATABASE "{team.database}" TO "{bob}"')
    with pytest.raises(StorageError):
        team.open("bob", begins=False)
    with pytest.raises(UsageError, match="was not made by"):
        team.admit("bob")
    team.admit("carol")
    remove_member(team.administrator, team.organisation, "carol")
    with pytest.raises(UsageError, match="has records there"):
        team.admit("carol")
    team.admit("carol", is_again=True)
    assert seen(team.open("carol")) == 1


def test_a_role_that_admit_did_not_make_is_never_changed(team: Team, other: Team) -> None:
    superuser = team.superuser()
    roles = "SELECT rolname, rolpassword, rolcanlogin FROM pg_authid WHERE rolname LIKE %s ORDER BY 1"
    superuser.execute(f"CREATE ROLE app_{team.organisation} LOGIN PASSWORD 'its own'")
    before = superuser.execute(roles, [f"%{team.organisation}"]).fetchall()
    for given in ({}, {"ask_password": lambda: "new", "resets_password": True}):
        with pytest.raises(UsageError, match="was not made by"):
            team.admit("app", **given)
    other.admit("ada")
    assert superuser.execute(roles, [f"%{team.organisation}"]).fetchall() == before
    assert other.logins["ada"] == f"ada_{other.organisation}"


def test_a_role_that_row_security_does_not_bind_is_refused(team: Team) -> None:
    team.superuser().execute(f"CREATE ROLE ada_{team.organisation} SUPERUSER")
    with pytest.raises(UsageError, match="was not made by"):
        team.admit("ada")
    team.open("bob")
    for user in ("postgres", "unified_state"):
        with pytest.raises(StorageError, match="is no member of"):
            TeamStore(found(team.postgres.dsn(team.database, user)), team.organisation, PROJECT)


def test_grants_do_not_grow_with_members(team: Team) -> None:
    superuser = team.superuser()
    size = "SELECT sum(pg_column_size(relacl)) FROM pg_class WHERE relnamespace = 'unified_state'::regnamespace"
    team.admit("ada")
    before = superuser.execute(size).fetchone()
    for number in range(20):
        team.admit(f"member {number}", ask_password=None)
    assert superuser.execute(size).fetchone() == before


def test_what_one_member_may_take_of_the_server_is_limited(team: Team) -> None:
    login = team.admit("ada")
    row = (
        team.superuser().execute("SELECT rolconnlimit, rolconfig FROM pg_roles WHERE rolname = %s", [login]).fetchone()
    )
    assert row is not None
    assert row[0] == 20
    assert {one.partition("=")[0] for one in row[1]} == {
        "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout",
        "temp_file_limit",
    }  # fmt: skip
    for _ in range(20):
        team.connect("ada")
    with pytest.raises(psycopg.OperationalError, match="too many connections for role"):
        team.connect("ada")


def test_a_project_that_moves_is_found_by_both_names(team: Team) -> None:
    team.admit("bob", projects=(PROJECT,))
    send(team.open("ada"), step(1))
    move_project(team.administrator, team.organisation, PROJECT, "github.com/acme/renamed")
    for name in (PROJECT, "github.com/acme/renamed"):
        assert [one.text for one in team.open("ada", name).own_records() if isinstance(one, StoredStep)] == ["text 1"]
    assert seen(team.open("bob", "github.com/acme/renamed")) == 1
    with pytest.raises(NotFoundError):
        move_project(team.administrator, team.organisation, PROJECT, "third")
    team.open("ada", "another")
    with pytest.raises(UsageError, match="already"):
        move_project(team.administrator, team.organisation, "another", "github.com/acme/renamed")


def test_a_project_that_is_deleted_is_gone_with_all_its_records_and_no_other_one(team: Team) -> None:
    send(team.open("ada"), step(1))
    send(team.open("ada", "other"), step(2))
    assert delete_project(team.administrator, team.organisation, PROJECT) == 2  # and the mark
    with team.connect("ada") as connection:
        rows = connection.execute("SELECT body FROM unified_state.record WHERE kind = 'step'").fetchall()
    assert len(rows) == 1
    with pytest.raises(NotFoundError):
        delete_project(team.administrator, team.organisation, PROJECT)


def test_a_name_that_postgresql_would_cut_is_refused_since_another_one_begins_like_it(team: Team) -> None:
    long, one = "é" * 30, "ö" * 27
    for organisation, member in ((f"{long}a", "ada"), (f"{long}b", "ada"), ("o" * 40, "m" * 40), (one, "ada")):
        with pytest.raises(UsageError, match="cannot be a name"):
            team.admit(member, organisation=organisation)
    team.organisation = f"{team.organisation}{'o' * 22}"
    send(team.open("m" * 29), step(1))


def test_nobody_begins_projects_without_end_or_one_by_the_former_name_of_another(team: Team) -> None:
    """Each statement of everybody reads all projects."""
    team.open("ada")
    move_project(team.administrator, team.organisation, PROJECT, "github.com/acme/renamed")
    begin = "SELECT unified_state.begin_project(%s, %s)"
    with team.connect("ada") as ada:
        assert ada.execute(begin, [team.organisation, PROJECT]).fetchone() == (None,)
        of = "(organisation, name) SELECT %s, 'p' || n FROM generate_series(1, 10000) AS n"
        team.superuser().execute(f"INSERT INTO unified_state.project {of}", [team.organisation])
        assert ada.execute(begin, [team.organisation, "one more"]).fetchone() == (None,)


def test_a_member_who_holds_a_table_delays_an_init_and_that_delays_nobody_for_long(team: Team) -> None:
    """`init` waits ten seconds at most, and everybody else behind it."""
    send(team.open("ada"), step(1))
    with team.connect("ada") as held:
        held.execute("BEGIN; SELECT FROM unified_state.record")
        with pytest.raises(StorageError, match="lock timeout"):
            init_server(team.administrator)
    init_server(team.administrator)
