"""A member who may write tries every table, function and lock: what another one sent stays as it was, and goes on."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psycopg
import pytest

from tests.contracts.contract import decision, session, step, turn
from tests.extras.team.postgres.attacks import attacks, table_locks
from tests.extras.team.team import PROJECT, Team, send
from tests.postgres_kinds import on_every_server

if TYPE_CHECKING:
    from unified_state.extras.team.postgres.record_store import TeamStore

pytestmark = on_every_server
HERS = [session("hers"), step(1, "the swordfish is hers", session_id="hers"), *turn(5, "hers"), decision(1, "D1")]


@pytest.fixture
def eves(other: Team) -> Team:
    """Another organisation in the same database, with something secret."""
    send(other.open("eve", "secret"), step(9, "swordfish elsewhere"))
    return other


@pytest.fixture
def ada(team: Team) -> TeamStore:
    store = team.open("ada")
    send(store, *HERS)
    send(team.open("bob"), session("his"), step(2, "bob has a swordfish", session_id="his"))
    return store


def given(team: Team, other: Team) -> dict[str, Any]:
    """What the statements name."""
    of = "SELECT id FROM unified_state.project WHERE organisation = %s"
    with team.superuser() as superuser:
        project, elsewhere = (superuser.execute(of, [one.organisation]).fetchone() for one in (team, other))
    return {
        "project": (project or (0,))[0],
        "elsewhere": (elsewhere or (0,))[0],
        "organisation": team.organisation,
        "other_organisation": other.organisation,
        "group": f"unified_state:{team.organisation}",
        "others": f"unified_state:{other.organisation}",
        "role": team.logins["bob"],
        "victim": team.logins["ada"],
        "stranger": other.logins["eve"],
        "database": team.database,
    }


def rights(team: Team) -> list[Any]:
    """Everything that says who may do what."""
    own = f"WHERE rolname LIKE '%{team.organisation}' OR rolname = 'unified_state'"
    theirs = f"WHERE rolname LIKE '%{team.organisation}'"  # other tests make members of `unified_state` meanwhile
    members = "pg_auth_members JOIN pg_roles ON pg_roles.oid IN (roleid, member)"
    with team.superuser() as superuser:
        return [
            superuser.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in (
                "unified_state.server", "unified_state.membership", "unified_state.project", "pg_policy",
                "(SELECT oid, relname, relowner, relacl, relrowsecurity FROM pg_class) AS c",
                "(SELECT oid, proname, proowner, proacl, prosecdef, proconfig FROM pg_proc) AS p",
                f"(SELECT rolname, rolsuper, rolbypassrls, rolcanlogin, rolconnlimit FROM pg_roles {own}) AS r",
                f"(SELECT roleid, member FROM {members} {theirs}) AS m",
            )
        ]  # fmt: skip


def test_no_statement_of_his_changes_hers_or_who_may_do_what_and_none_shows_another_organisation(
    team: Team, eves: Team, ada: TeamStore
) -> None:
    names = given(team, eves)
    with team.superuser() as catalog:
        groups = list(attacks(catalog, names))
    hers, before = list(ada.own_records()), rights(team)
    done = 0
    for about, statements in groups:
        for statement in statements:
            with team.postgres.connect(team.database, team.logins["bob"]) as bob, suppress(psycopg.Error):
                result = bob.execute(statement)
                done += result.rowcount > 0
                shown = repr(result.fetchall()) if result.description else ""
                assert "elsewhere" not in shown, statement
                assert eves.organisation not in shown, statement
        assert list(ada.own_records()) == hers, about
        assert rights(team) == before, about
    assert done > 10
    assert send(ada, session("next"), *turn(50, "next")) == len(turn(50)) + 1


def test_he_holds_nobody_up_by_a_lock(team: Team, ada: TeamStore) -> None:
    bob = team.connect("bob")
    with team.superuser() as catalog:
        locks = table_locks(catalog)
    for lock in locks:
        with pytest.raises(psycopg.errors.InsufficientPrivilege), bob.transaction():
            bob.execute(lock)
    bob.execute("BEGIN")
    (project,) = bob.execute("SELECT id FROM unified_state.project").fetchone() or (0,)
    rows = bob.execute("SELECT author FROM unified_state.record WHERE project = %s FOR UPDATE", [project]).fetchall()
    assert {author for (author,) in rows} == {"bob"}
    assert send(ada, session("next"), *turn(50, "next")) == len(turn(50)) + 1


def test_copy_is_no_way_around_the_policies(team: Team, ada: TeamStore) -> None:
    bob, hers = team.connect("bob"), list(ada.own_records())
    (project,) = bob.execute("SELECT id FROM unified_state.project").fetchone() or (0,)
    columns = "project, author, id, kind, at, version, archive, body"
    with pytest.raises(psycopg.Error), bob.cursor().copy(f"COPY unified_state.record ({columns}) FROM STDIN") as copy:
        copy.write_row((project, "ada", uuid4(), "step", 1, 1, "x", "forged"))
    assert list(ada.own_records()) == hers


def test_he_cannot_put_a_record_in_her_way_that_has_the_id_of_hers(team: Team, ada: TeamStore) -> None:
    """Ids follow from names, so he can know hers: they are hers alone."""
    send(team.open("bob"), step(77, "his first", session_id="hers"))
    assert send(ada, step(77, "hers", session_id="hers")) == 1
    assert "hers" in [getattr(one, "text", "") for one in ada.own_records()]


def test_the_two_functions_that_run_as_their_owner_do_nothing_for_who_is_no_member(
    team: Team, eves: Team, ada: TeamStore
) -> None:
    """One is there for the index of words, which row security keeps from being used. The other is
    there because on Citus only who may change all projects can insert one: see `test_citus.py`.
    """
    names = given(team, eves)
    superuser = team.superuser()
    rows = superuser.execute(
        "SELECT proname, proconfig, proargnames FROM pg_proc WHERE pronamespace = 'unified_state'::regnamespace "
        "AND prosecdef ORDER BY 1"
    ).fetchall()
    assert [(name, config[0], columns[-3:]) for name, config, columns in rows] == [
        ("begin_project", "search_path=pg_catalog, pg_temp", ["asked_of", "asked"]),
        ("candidates", "search_path=pg_catalog, pg_temp", ["author", "id", "size"]),
    ]
    call = (
        "SELECT author FROM unified_state.candidates(%s, 'swordfish', ARRAY['swordfish'::tsquery], ARRAY[1.0], NULL, 9)"
    )
    begin, begun = (
        "SELECT unified_state.begin_project(%s, 'new')",
        "SELECT FROM unified_state.project WHERE name = 'new'",
    )
    bob, nobody = team.connect("bob"), eves.connect("eve")
    assert {one for (one,) in bob.execute(call, [names["project"]])} == {"ada", "bob"}
    assert bob.execute(call, [names["elsewhere"]]).fetchall() == []
    assert nobody.execute(call, [names["project"]]).fetchall() == []
    nobody.execute(begin, [team.organisation])
    bob.execute(begin, [eves.organisation])
    superuser.execute(f'REVOKE "unified_state:{team.organisation}" FROM "{team.logins["bob"]}"')
    for sql, value in ((call, names["project"]), (begin, team.organisation)):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            bob.execute(sql, [value])
    assert superuser.execute(begun).fetchall() == []


def test_the_index_of_words_is_used_though_a_policy_hides_rows(team: Team, ada: TeamStore) -> None:
    superuser = team.superuser()
    project = superuser.execute(
        "SELECT id FROM unified_state.project WHERE organisation = %s AND name = %s", [team.organisation, PROJECT]
    ).fetchone()
    superuser.execute(
        "INSERT INTO unified_state.record (project, author, id, kind, at, version, archive, body, words) "
        "SELECT %s, 'ada', gen_random_uuid(), 'step', n, 0, 'x', '', array_to_tsvector(ARRAY['word' || n]) "
        "FROM generate_series(1, 20000) AS n",
        project,
    )
    superuser.execute("ANALYZE unified_state.record; SET jit = off")
    scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'record_words'"
    bob = team.open("bob")
    for number in range(8):
        bob.candidates(f"'word{number + 1}'", {f"'word{number + 1}'": 1.0}, None, 9)
    bob.close()
    superuser.execute("SELECT pg_stat_force_next_flush()") if superuser.info.server_version >= 150000 else None
    import time

    end = time.monotonic() + 10
    while not (superuser.execute(scans).fetchone() or (0,))[0] and time.monotonic() < end:
        time.sleep(0.1)
    assert (superuser.execute(scans).fetchone() or (0,))[0] > 0


def test_a_flood_of_another_organisation_hides_nothing_here_and_makes_no_search_here_read_it(
    team: Team, eves: Team, ada: TeamStore
) -> None:
    """The indexes of words and of vectors are of all projects: his rows stand in both, and are the nearest."""
    near, far = (f"[{','.join(['1', more, *['0'] * 382])}]" for more in ("0", "1"))
    superuser = team.superuser()
    superuser.execute(
        f"UPDATE unified_state.record SET model = 'm', embedding = '{far}' WHERE words IS NOT NULL AND project = %s",
        [ada._place["project"]],
    )
    with eves.connect("eve") as eve:
        eve.execute(
            "INSERT INTO unified_state.record "
            "(project, author, id, kind, at, version, archive, body, words, model, embedding) "
            "SELECT (SELECT id FROM unified_state.project), 'eve', gen_random_uuid(), 'step', n, 0, 'x', '', "
            f"array_to_tsvector(ARRAY['swordfish']), 'm', '{near}' FROM generate_series(1, 5000) AS n"
        )
        theirs = f"@{ada._place['project']}"
        with pytest.raises(psycopg.errors.CheckViolation):  # to stand among the words of another project
            eve.execute("UPDATE unified_state.record SET words = words || array_to_tsvector(%s)", [[theirs]])
    superuser.execute("VACUUM ANALYZE unified_state.record")
    superuser.execute(f"ALTER ROLE {team.admit('bob')} SET hnsw.max_scan_tuples = 1000")  # 20,000 of more rows
    bob, wanted = team.open("bob"), [1.0] + [0.0] * 383
    assert {author for author, *_ in bob.nearest("m", wanted, 9)} == {"ada", "bob"}
    call = f"candidates({bob._place['project']}, 'swordfish', ARRAY['swordfish'::tsquery], ARRAY[1.0], NULL, 9)"
    read = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT FROM unified_state.{call}"
    plan = (bob.rows(read) + bob.rows(read))[1][0][0]["Plan"]  # the first one reads the catalog, too
    assert plan["Actual Rows"] == 2
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 300
