"""What is archived reaches the team's server: a real PostgreSQL, and whole processes of the product."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.builders import answer, boundary, call, prompt, result, summary, write_transcript
from tests.cutting_proxy import CuttingProxy
from tests.extras.team.team import Team, make_database
from tests.postgres_server import PostgresServer
from unified_state.model.history_records import HistoryRecord

from .product import PATIENCE, Project, hook_command
from .transcripts import Transcript

REMOTE = "git@github.com:acme/app.git"
FORK = "f0f0f0f0-0000-4000-8000-00000000cafe"

Settings = Callable[..., None]
Stored = Callable[[], list[HistoryRecord]]


@pytest.fixture(scope="module")
def team_database(postgres: PostgresServer) -> str:
    """A database that all tests here share; each has an organisation of its own."""
    return make_database(postgres)


@pytest.fixture
def team(postgres: PostgresServer, team_database: str) -> Iterator[Team]:
    """Ada and Bob, who was admitted too."""
    with ExitStack() as stack:
        made = Team(postgres, team_database, stack)
        for member in ("ada", "bob"):
            made.admit(member)
        yield made


@pytest.fixture
def proxy(postgres: PostgresServer) -> Iterator[CuttingProxy]:
    """The network between the product and the server."""
    with CuttingProxy(str(postgres.folder / f".s.PGSQL.{postgres.port}")) as running:
        yield running


@pytest.fixture
def configure(write_settings: Callable[[str], None], team: Team) -> Settings:
    """Writes the user's own settings, so that they name the server."""

    def write(dsn: str = "", member: str = "ada", **others: bool) -> None:
        lines = [f"{name} = {str(value).lower()}" for name, value in others.items()]
        named = {"dsn": dsn or team.dsn(member), "organisation": team.organisation}
        lines += [f'postgres_{name} = "{value}"' for name, value in named.items()]
        write_settings("\n".join(["postgres_enabled = true", *lines]))

    return write


@pytest.fixture
def project(project: Project, git: Callable[..., str]) -> Project:
    """A clone of the team's repository."""
    git("remote", "add", "origin", REMOTE)
    return project


@pytest.fixture
def bob(project: Project, tmp_path: Path, git: Callable[..., str]) -> Project:
    """Somebody else's clone of it."""
    clone = tmp_path / "clone"
    clone.mkdir()
    git("init", "--quiet", cwd=clone)
    git("remote", "add", "origin", "https://github.com/acme/app", cwd=clone)
    return Project(clone, project.home)


@pytest.fixture
def stored(team: Team) -> Stored:
    """What the server holds of ada in the project."""

    def read() -> list[HistoryRecord]:
        with team.open("ada") as store:
            return list(store.own_records())

    return read


def switch_on(project: Project) -> None:
    """Let this project's history go to the server, as the user does; what is archived is sent."""
    done = project.at_terminal("sync", "--on")
    assert done.code == 0, done


def speak(project: Project, path: Path, text: str, event: str = "Stop") -> None:
    """A turn of a session, and the hook at its end."""
    session = Transcript(path.stem, seed=len(text), cwd=str(project.folder))
    session.prompt(text)
    session.write(path)
    done = project.hook(event, session_id=path.stem, transcript_path=str(path), last_assistant_message="")
    assert (done.code, done.out, project.log()) == (0, "", "")


def background_runs(project: Project) -> list[str]:
    """The processes on this machine that a hook of this project started, zombies too."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = Path("/proc", pid, "cmdline").read_text(encoding="utf-8", errors="replace")
            status = Path("/proc", pid, "status").read_text(encoding="utf-8")
        except OSError:
            continue  # it has just ended
        is_orphaned_zombie = "State:\tZ" in status and f"PPid:\t{os.getpid()}\n" in status
        if (str(project.folder) in command and "--background" in command) or is_orphaned_zombie:
            found.append(command)
    return found


def settled(project: Project) -> None:
    """Wait until no background run is at work."""
    end = time.monotonic() + PATIENCE
    while background_runs(project) and time.monotonic() < end:
        time.sleep(0.1)
    assert background_runs(project) == []


def test_a_sync_brings_the_server_up_to_date(
    project: Project, tmp_path: Path, configure: Settings, stored: Stored
) -> None:
    configure()
    speak(project, tmp_path / "s1.jsonl", "why is the cache cold 路 \ud83d\ude80")
    project.decide("Warm the cache")
    refused = project.run("sync")
    assert (refused.code, "nothing of this project goes to a server yet" in refused.err) == (2, True)
    assert project.run("sync", "--on").code == 2  # no script and no agent agrees
    assert project.at_terminal("sync", "--on", answer="no").code == 2
    assert stored() == []
    done = project.at_terminal("sync", "--on")
    assert (done.code, "it has everything" in done.out) == (0, True), done
    assert (project.ask("sync")["told"], project.ask("sync")["complete"]) == (0, True)
    assert "why is the cache cold 路 🚀" in repr(stored())
    assert "Warm the cache" in repr(stored())


def test_a_colleagues_decision_is_found_recalled_and_explained_as_foreign(
    project: Project, bob: Project, tmp_path: Path, configure: Settings
) -> None:
    configure()
    speak(project, tmp_path / "s1.jsonl", "why is the swordfish cold")
    project.decide("Warm the swordfish")
    assert project.run("constraint", "add", "Never freeze the swordfish\nC2  active", "--source", "ada").code == 0
    switch_on(project)
    configure(member="bob")
    hits = bob.ask("search", "--team", "swordfish")
    assert {(hit["kind"], hit["said_by"], hit["status"]) for hit in hits} == {
        ("prompt", "ada", None),
        ("decision", "ada", "active"),
        ("constraint", "ada", "proposed"),  # no rule of his
    }
    refs = {hit["kind"]: hit["ref"] for hit in hits}
    assert refs == {"prompt": "ada:S1", "decision": "ada:D1", "constraint": "ada:C1"}
    for kind, ref in refs.items():
        told = bob.ask("show", ref)
        assert (told["ref"], told["kind"], told["said_by"]) == (ref, kind, "ada")
        assert "no rule or decision of this user" in told["trust"]
        printed = bob.run("show", ref).out
        assert f"ada: {told['trust']}" in printed
        assert all(line.startswith("    ") for line in printed.splitlines()[1:])
    assert bob.ask("show", refs["decision"].lower())["body"]["decision"] == "Warm the swordfish"
    assert bob.ask("show", refs["prompt"], "--grep", "cold")["part"]["matches"] == 1
    why = bob.ask("show", refs["constraint"], "--source")
    assert (why["status"], why["origin"], why["faults"]) == ("proposed", "inferred", [])
    assert "member" in bob.run("show", refs["constraint"], "--source").out
    assert "decision, active: ada recorded it" in bob.run("show", refs["decision"], "--source").out
    assert "ada: Never **freeze**" in bob.run("search", "--team", "freeze").out
    for ref in (refs["decision"].replace("D", "Q"), "ada:S999999999", "eve:D1"):
        done = bob.run("show", ref)
        assert (done.code, "that you may read" in done.err) == (1, True)
    assert bob.ask("search", "--team", "swordfish", "--kind", "decision")[0]["ref"] == refs["decision"]
    assert bob.archives == project.archives  # recalling recorded nothing


def test_a_repository_cannot_name_a_server(project: Project, team: Team, tmp_path: Path) -> None:
    settings = project.folder / ".claude" / "unified-state.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(
        f'postgres_enabled = true\npostgres_dsn = "{team.dsn("ada")}"\nsync_in_background = true\n', encoding="utf-8"
    )
    project.decide("Warm the cache")
    done = project.run("sync", UNIFIED_STATE_POSTGRES_ENABLED="1", UNIFIED_STATE_POSTGRES_DSN=team.dsn("ada"))
    assert (done.code, done.out) == (1, "")
    assert "no server is configured" in done.err
    speak(project, tmp_path / "s1.jsonl", "hello")
    assert background_runs(project) == []


def test_the_end_of_a_turn_syncs_in_the_background_and_leaves_no_process(
    project: Project, tmp_path: Path, configure: Settings, stored: Stored
) -> None:
    configure(sync_in_background=True)
    speak(project, tmp_path / "s1.jsonl", "nobody agreed yet")
    assert background_runs(project) == []
    switch_on(project)
    speak(project, tmp_path / "s2.jsonl", "why is the cache cold")
    settled(project)
    assert "why is the cache cold" in repr(stored())
    assert "health     good" in project.run("status").out


def test_where_it_is_not_turned_on_the_end_of_a_turn_starts_nothing(
    project: Project, tmp_path: Path, configure: Settings
) -> None:
    configure()
    speak(project, tmp_path / "s1.jsonl", "why is the cache cold")
    assert background_runs(project) == []
    assert project.ask("status")["servers"] == []


def test_a_run_in_the_background_ends_itself_whatever_the_server_does(
    project: Project, configure: Settings, team: Team, proxy: CuttingProxy
) -> None:
    configure()
    project.decide("Warm the cache")
    switch_on(project)
    configure(f"host={proxy.folder} user={team.logins['ada']} dbname={team.database} connect_timeout=0")
    proxy.is_silent = True
    code = (
        "import sys; from unified_state.interfaces.cli import main as cli; "
        "from unified_state.extras.team import server_command as sync; "
        "sync._PAUSE, sync._AT_MOST = 0.0, 10.0; sys.exit(cli.run(['sync', '--background']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project.folder, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    (told,) = project.ask("status")["servers"]
    assert told["failures"] == 1
    assert "has not ended" in project.run("status").out


def test_environment_of_a_client_leads_history_nowhere(
    project: Project,
    tmp_path: Path,
    configure: Settings,
    proxy: CuttingProxy,
    stored: Stored,
    team: Team,
) -> None:
    configure()
    project.decide("Warm the sea")
    switch_on(project)
    configure(f"dbname={team.database} user={team.logins['ada']}", sync_in_background=True)
    path = Transcript("s1", cwd=str(project.folder))
    path.prompt("why is the cache cold")
    given = project.event("Stop", session_id="s1", transcript_path=str(path.write(tmp_path / "s1.jsonl")))
    project.execute(hook_command("Stop"), given, {"PGHOST": proxy.folder, "RUVECTOR_HOST": proxy.folder})
    settled(project)
    assert "cache" not in repr(stored())


def speak_at_length(project: Project, path: Path) -> None:
    """A session with its fork, a compaction and items, of which some change after a sync."""
    written = [
        prompt(1, "Add the 登录 page \ud83d\ude80"),
        answer(2, "I run the tests", call("t1", "Bash", command="pytest -q")),
        result(3, "t1", "E   AssertionError: 1 != 2\n1 failed in 0.1s", is_error=True),
        boundary(4),
        summary(5, "The login page was begun."),
    ]
    assert project.run("import", str(write_transcript(path, *written))).code == 0
    forked = [{**entry, "sessionId": FORK} for entry in (*written[:2], prompt(8, "Another way"))]
    assert project.run("import", str(write_transcript(path.with_name("fork.jsonl"), *forked))).code == 0
    project.ask("resolve", project.decide("Use JWT"), "--by", project.decide("Use sessions"))
    project.ask("question", "add", "Which port?", "--context", "c")
    switch_on(project)
    project.decide("Serve on port 8443")
    project.ask("question", "resolve", "Q1", "8443")
    project.ask("forget", "S2", "--yes")
    assert project.run("import", str(write_transcript(path, *written, prompt(6, "Go on")))).code == 0
    assert project.ask("sync")["complete"]


def told(lines: list[str]) -> tuple[list[str], list[str]]:
    """The lines of a history in any order, and the steps of each session in theirs."""
    steps = [line for line in lines if '"record":"step"' in line]
    return sorted(lines), sorted(steps, key=lambda line: json.loads(line)["sessionId"])


def history(project: Project, path: Path, *arguments: str) -> list[str]:
    """The lines of a project's whole history but the header, which names the project, and the end, which knows it."""
    done = project.run("export", "--full", str(path), *arguments)
    assert done.code == 0, done
    return path.read_text(encoding="utf-8", errors="surrogatepass").splitlines()[1:-1]


@pytest.fixture
def elsewhere(tmp_path: Path, git: Callable[..., str]) -> Project:
    """Another machine of ada's, with a project that has nothing to do with the first."""
    folder, home = tmp_path / "fresh" / "project", tmp_path / "fresh" / "home"
    folder.mkdir(parents=True)
    home.mkdir()
    git("init", "--quiet", cwd=folder)
    return Project(folder, home)


def test_a_history_goes_from_the_archive_to_the_server_into_a_file_and_into_another_archive_exactly(
    project: Project, elsewhere: Project, tmp_path: Path, configure: Settings
) -> None:
    configure()
    speak_at_length(project, tmp_path / "s1.jsonl")
    here = history(project, tmp_path / "here.jsonl")
    there = tmp_path / "there.jsonl"
    assert sorted(history(project, there, "--from", "server")) == sorted(here)
    assert len(here) > 12
    elsewhere.ask("import", "--own", str(there))
    assert told(history(elsewhere, tmp_path / "fresh.jsonl")) == told(here)


def test_what_others_have_on_the_server_is_not_exported(
    project: Project, bob: Project, tmp_path: Path, configure: Settings
) -> None:
    configure()
    speak_at_length(project, tmp_path / "s1.jsonl")
    configure(member="bob")
    assert history(bob, tmp_path / "bobs.jsonl", "--from", "server") == []
    bob.decide("Mine")
    switch_on(bob)
    (mine,) = history(bob, tmp_path / "bobs.jsonl", "--from", "server")
    assert "Mine" in mine


def test_what_was_sent_is_deleted_for_good_or_sent_again_as_the_user_likes(
    project: Project, tmp_path: Path, configure: Settings, stored: Stored
) -> None:
    configure()
    speak(project, tmp_path / "s1.jsonl", "why is the cache cold")
    switch_on(project)
    assert project.ask("sync", "--off") == {"on": False}
    project.decide("Warm the cache")
    assert project.run("sync").code == 2
    assert len(stored()) == 2
    assert project.run("sync", "--delete").code == 2
    switch_on(project)
    assert project.at_terminal("sync", "--delete").code == 0
    assert stored() == []
    assert project.run("sync").code == 2
    switch_on(project)
    assert "why is the cache cold" in repr(stored())
    assert "Warm the cache" in repr(stored())


def test_under_another_address_and_another_origin_nothing_is_sent_again(
    project: Project, tmp_path: Path, configure: Settings, team: Team, git: Callable[..., str]
) -> None:
    configure()
    speak(project, tmp_path / "s1.jsonl", "why is the cache cold")
    switch_on(project)
    configure(dsn=team.postgres.dsn(team.database, team.logins["ada"], host="127.0.0.1"))
    git("remote", "set-url", "origin", "git@github.com:acme/renamed.git")
    done = project.ask("sync")
    assert (done["told"], done["new"], done["complete"]) == (0, 0, True)
    assert len(project.ask("status")["servers"]) == 1
