"""Where the user turned it on, the end of each turn sends what is new to the team's server, and leaves no process."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.cutting_proxy import CuttingProxy
from tests.extras.team.team import Team, make_database
from tests.postgres_server import PostgresServer
from tests.sandboxed.product import Product
from unified_state.archive.archive import Archive
from unified_state.extras.team.team_server import agree
from unified_state.model.history_records import StoredStep

from .installed import installed
from .scenario import Scenario

PATIENCE = 90  # seconds; a run ends itself within one minute
VISIBLE = "/var/tmp"
REMOTE = "git@github.com:acme/app.git"


@pytest.fixture
def team(postgres: PostgresServer) -> Iterator[Team]:
    """Ada's team."""
    with ExitStack() as stack:
        made = Team(postgres, make_database(postgres), stack)
        made.admit("ada")
        yield made


@pytest.fixture
def connected(scenario: Scenario, postgres: PostgresServer, team: Team) -> Iterator[CuttingProxy]:
    """The only way from the sandbox to the server: a socket that is not hidden, with a path as short as one may be."""
    with CuttingProxy(str(postgres.folder / f".s.PGSQL.{postgres.port}"), beside=VISIBLE) as proxy:
        config = scenario.home / ".config" / "unified-state" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            "postgres_enabled = true\nsync_in_background = true\n"
            f'postgres_dsn = "host={proxy.folder} user={team.logins["ada"]} dbname={team.database}"\n'
            f'postgres_organisation = "{team.organisation}"\n',
            encoding="utf-8",
        )
        scenario.run_program("git", "remote", "add", "origin", REMOTE)
        yield proxy


def let_it_go_up(scenario: Scenario, team: Team) -> Product:
    """The product is installed, and its user agreed that the project's history goes to the server."""
    product = installed(scenario)
    product.run("decision", "add", "Begin", "--rationale", "an archive")
    (path,) = scenario.home.rglob("archive.db")
    with Archive(str(path)) as archive, team.open("ada") as store:
        agree(archive, store)
    return product


def on_the_server(team: Team, session_id: str) -> list[str]:
    """The texts of a session that the server has."""
    with team.open("ada") as store:
        kept = [one for one in store.own_records() if isinstance(one, StoredStep)]
    return [step.text for step in kept if step.session_id == session_id]


def processes(scenario: Scenario) -> int:
    """How many processes there are in the sandbox, zombies too."""
    return len(scenario.run_program("sh", "-c", "echo /proc/[0-9]*").stdout.split())


def wait_for_processes(scenario: Scenario, count: int) -> None:
    """Wait until there are as many as before."""
    end = time.monotonic() + PATIENCE
    while processes(scenario) > count and time.monotonic() < end:
        time.sleep(0.2)
    assert processes(scenario) == count


def servers(product: Product) -> list[dict[str, object]]:
    """What `status` says of the servers."""
    found: list[dict[str, object]] = json.loads(product.run("status", "--json"))["servers"]
    return found


def test_a_client_that_ends_at_once_has_its_turn_on_the_server(
    scenario: Scenario, connected: CuttingProxy, team: Team
) -> None:
    product = let_it_go_up(scenario, team)
    before = processes(scenario)
    run = scenario.prompt("first")
    wait_for_processes(scenario, before)
    assert on_the_server(team, run.session_id)[:1] == ["first"]
    product.run("sync")
    here = [line["text"] for line in product.export(run.session_id)]
    assert on_the_server(team, run.session_id) == here


def test_a_server_that_never_answers_neither_holds_the_client_nor_leaves_a_process(
    scenario: Scenario, connected: CuttingProxy, team: Team
) -> None:
    product = let_it_go_up(scenario, team)
    connected.is_silent = True
    before = processes(scenario)
    run = scenario.prompt("first")
    assert run.result
    wait_for_processes(scenario, before)
    (server,) = servers(product)
    assert (server["failures"], server["waitingSteps"]) == (1, len(product.export(run.session_id)))
