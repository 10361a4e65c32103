"""What the sandbox promises: no network but loopback, nobody's home, and no process that outlives it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandboxed.sandbox import Sandbox, private_folders

from .scenario import CHECKOUT

ENV = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def sandbox(namespaces: None, tmp_path: Path) -> Iterator[Sandbox]:
    interpreter = (Path(sys.prefix), Path(sys.base_prefix))
    with Sandbox(visible=[tmp_path, *interpreter]) as sandbox:
        yield sandbox


def test_only_loopback_exists(sandbox: Sandbox, tmp_path: Path) -> None:
    interfaces = sandbox.run(["cat", "/proc/net/dev"], cwd=tmp_path, env=ENV).stdout.splitlines()[2:]

    assert [line.partition(":")[0].strip() for line in interfaces] == ["lo"]


def test_nothing_outside_can_be_reached(sandbox: Sandbox, tmp_path: Path) -> None:
    connect = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"

    attempt = sandbox.run([sys.executable, "-I", "-c", connect], cwd=tmp_path, env=ENV)

    assert "Network is unreachable" in attempt.stderr


def test_the_private_folders_hold_only_what_was_made_visible(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "visible").touch()
    visible = [tmp_path, Path(sys.prefix), Path(sys.base_prefix)]

    for folder in private_folders():
        shown = sandbox.run(["ls", "-A", str(folder)], cwd=tmp_path, env=ENV).stdout.split()
        assert set(shown) == {path.relative_to(folder).parts[0] for path in visible if path.is_relative_to(folder)}
    assert sandbox.run(["ls"], cwd=tmp_path, env=ENV).stdout == "visible\n"


def test_a_program_gets_only_the_environment_it_is_given(sandbox: Sandbox, tmp_path: Path) -> None:
    assert sandbox.run(["env"], cwd=tmp_path, env=ENV).stdout == "PATH=/usr/bin:/bin\n"


def test_every_process_ends_with_the_sandbox(namespaces: None, tmp_path: Path) -> None:
    with Sandbox(visible=[tmp_path]) as sandbox:
        orphan = "setsid sleep infinity > /dev/null 2>&1 & echo started"
        assert sandbox.run(["sh", "-c", orphan], cwd=tmp_path, env=ENV).stdout == "started\n"
        process = sandbox.start(["cat"], cwd=tmp_path, env=ENV, stdin=subprocess.PIPE)

    assert process.wait(timeout=10) == -9
    process.communicate()


def test_a_killed_program_is_gone_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    process = sandbox.start(["cat"], cwd=tmp_path, env=ENV, stdin=subprocess.PIPE)

    sandbox.kill(process)

    assert process.communicate() == ("", "")
    assert process.returncode == -9


def test_the_client_is_the_version_that_the_documentation_names(client: Path) -> None:
    version = subprocess.run([client, "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
    pages = ("README.md", "docs/how-to/install.md", "docs/explanation/limits.md", "docs/reference/hooks.md")
    assert [page for page in pages if version not in (CHECKOUT / page).read_text(encoding="utf-8")] == []
