"""Clones of one repository know each other by where they come from, however they came."""

from __future__ import annotations

import pytest

from unified_state.extras.team.project_name import shared_name


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/acme/app",
        "https://github.com/acme/app.git",
        "https://GitHub.com:443/acme/app/",
        "https://ada:secret@github.com/acme/app.git",
        "ssh://git@github.com/acme/app.git",
        "ssh://git@github.com:22/acme/app",
        "git@github.com:acme/app.git",
        "github.com:acme/app",
        "git://github.com/acme/app",
    ],
)
def test_every_way_to_one_repository_is_one_name(remote: str) -> None:
    assert shared_name(remote) == "github.com/acme/app"


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("https://github.com/acme/other", "github.com/acme/other"),
        ("https://gitlab.example:8443/acme/app", "gitlab.example:8443/acme/app"),
        ("git@host:~ada/app.git", "host/~ada/app"),
    ],
)
def test_another_repository_is_another_name(remote: str, name: str) -> None:
    assert shared_name(remote) == name


@pytest.mark.parametrize(
    "remote",
    [
        None,
        "",
        "/srv/git/app.git",
        "../app",
        "./a:b",
        "file:///srv/git/app.git",
        "C:\\git\\app",
        "https://",
        "host:",
        "x",
    ],
)
def test_what_other_machines_cannot_know_is_no_name(remote: str | None) -> None:
    assert shared_name(remote) is None
