"""The server's address may hold a password: nothing of ours shows it or makes a copy; only its owner's file counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .product import Project
from .transcripts import Transcript

PASSWORD = "hunter2-of-ada"
SETTINGS = f"""
postgres_enabled = true
postgres_dsn = "postgresql://ada:{PASSWORD}@127.0.0.1:1/unified_state"
"""


@pytest.fixture
def with_server(project: Project) -> Project:
    """A project whose user has named a server, which is not there."""
    own = project.home / ".config" / "unified-state" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(SETTINGS)
    return project


@pytest.mark.usefixtures("own_passwd")
def test_config_says_that_a_server_is_set(with_server: Project) -> None:
    done = with_server.run("config", "--json")
    found = {row["name"]: row["value"] for row in json.loads(done.out)["settings"]}
    assert (found["postgres_enabled"], found["postgres_dsn"]) == (True, "(set)")


def test_no_file_but_the_users_own_holds_the_password(with_server: Project, tmp_path: Path) -> None:
    written = Transcript("s")
    written.turn(1)
    path = written.write(tmp_path / "s.jsonl")
    with_server.hook("SessionStart", "brief", source="startup", transcript_path=str(path))
    with_server.hook("UserPromptSubmit", prompt="x", transcript_path=str(path))
    with_server.hook("Stop", transcript_path=str(path))
    holding = [
        found
        for found in (*with_server.home.rglob("*"), *with_server.folder.rglob("*"))
        if found.is_file() and PASSWORD.encode() in found.read_bytes()
    ]
    assert [found.name for found in holding] == ["config.toml"]
    assert with_server.archives


@pytest.mark.usefixtures("own_passwd")
def test_doctor_warns_of_a_password_that_other_users_may_read(with_server: Project) -> None:
    own = with_server.home / ".config" / "unified-state" / "config.toml"
    for dsn, mode, is_told in (
        (f"postgresql://ada:{PASSWORD}@localhost/x", 0o644, True),
        (f"postgresql://ada:{PASSWORD}@localhost/x", 0o640, True),
        (f"postgresql://ada:{PASSWORD}@localhost/x", 0o600, False),
        ("postgresql://ada@localhost/x", 0o644, False),
    ):
        own.write_text(f'postgres_enabled = true\npostgres_dsn = "{dsn}"\n', encoding="utf-8")
        own.chmod(mode)
        told = with_server.run("doctor").out
        assert ("has a password, and other users may read it -> chmod 600" in told, PASSWORD in told) == (
            is_told,
            False,
        )
