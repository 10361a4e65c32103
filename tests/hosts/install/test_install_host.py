"""Our hooks in the files of other hosts: in, and out again without a trace."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from unified_state.errors import UnifiedStateError
from unified_state.hosts.install.install_host import (
    called_programs,
    host_file,
    install_host,
    installed_hosts,
    uninstall_host,
)
from unified_state.hosts.transcripts.rules.hosts import HOSTS, PLUGIN, Host

SHARED = [host for host in HOSTS.values() if not host.own_file]
OWN = [host for host in HOSTS.values() if host.own_file]
EVERY = pytest.mark.parametrize("host", HOSTS.values(), ids=lambda host: host.name)
THEIRS = {"hooks": [{"type": "command", "command": "theirs", "timeout": 5}]}
FILES = {
    "one line": '{"theme": "dark", "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}',
    "windows": '{\r\n\t"theme": "dark",\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\tnull\r\n\t\t]\r\n\t}\r\n}\r\n',
    "foreign": '\ufeff{"名前": "値", "emoji": "🦊", "hooks": {"Other": []}, "version": 1}',
    "tabs": json.dumps({"a": [1, {"b": None}], "hooks": {"sessionStart": [THEIRS]}}, indent="\t") + "\n\n",
}


@pytest.fixture
def data_dir(tmp_path: Path) -> str:
    return str(tmp_path / "data")


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
@pytest.mark.parametrize("host", SHARED, ids=lambda host: host.name)
def test_what_was_put_in_comes_out(tmp_path: Path, data_dir: str, host: Host, text: str) -> None:
    path = tmp_path / "hooks.json"
    path.write_bytes(text.encode())
    assert [install_host(host, str(path), data_dir).changed for _ in range(2)] == [True, False]
    between = json.loads(path.read_text(encoding="utf-8-sig"))
    assert set(host.events) <= set(between["hooks"])
    assert uninstall_host(host, str(path)).changed
    assert path.read_bytes() == text.encode()


@EVERY
def test_a_file_that_was_not_there_is_gone_again(tmp_path: Path, data_dir: str, host: Host) -> None:
    path = host_file(host, "project", str(tmp_path / "project"), {})
    install_host(host, path, data_dir)
    assert [found.name for found, _ in installed_hosts(str(tmp_path / "project"), {})] == [host.name]
    uninstall_host(host, path)
    assert [entry for entry in (tmp_path / "project").rglob("*") if not entry.is_dir()] == []


@pytest.mark.parametrize(
    "text",
    [
        '{"hooks": {',
        '// mine\n{"hooks": {}}',
        '{"hooks": {}, /* mine */}',
        "[]",
        '{"hooks": []}',
        '{"hooks": {"Stop": 1}}',
        "\x00",
    ],
)
@pytest.mark.parametrize("host", SHARED, ids=lambda host: host.name)
def test_a_file_that_is_no_plain_json_is_refused_and_stays(
    tmp_path: Path, data_dir: str, host: Host, text: str
) -> None:
    path = tmp_path / "hooks.json"
    path.write_bytes(text.encode())
    for is_out in (False, True):
        with pytest.raises(UnifiedStateError) as refused:
            uninstall_host(host, str(path)) if is_out else install_host(host, str(path), data_dir)
        assert "\n" not in str(refused.value)
        assert "nothing was changed" in refused.value.hint
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("host", OWN, ids=lambda host: host.name)
def test_a_file_of_our_name_that_is_not_ours_stays(tmp_path: Path, data_dir: str, host: Host) -> None:
    path = tmp_path / "unified-state.json"
    path.write_text("theirs", encoding="utf-8")
    for is_out in (False, True):
        with pytest.raises(UnifiedStateError, match="is there, and not from us"):
            uninstall_host(host, str(path)) if is_out else install_host(host, str(path), data_dir)
    assert path.read_text(encoding="utf-8") == "theirs"


@EVERY
def test_the_installed_command_names_the_host(tmp_path: Path, data_dir: str, host: Host) -> None:
    path = tmp_path / "file"
    install_host(host, str(path), data_dir)
    assert f" host {host.name} " in path.read_text(encoding="utf-8").replace('", "', " ").replace('"]', " ")
    (program,) = called_programs(host, str(path))
    assert Path(program).exists()


@pytest.mark.parametrize("host", [host for host in HOSTS.values() if host.layout != PLUGIN], ids=lambda host: host.name)
def test_an_installed_command_runs_and_exits_with_0(
    repository: Path, tmp_path: Path, data_dir: str, host: Host
) -> None:
    path = tmp_path / "file"
    install_host(host, str(path), data_dir)
    lines = [line for entries in json.loads(path.read_text())["hooks"].values() for line in shell_lines(entries)]
    assert len(lines) == len(host.events)
    given = json.dumps({"session_id": "s", "cwd": str(repository)}).encode()
    done = subprocess.run(shlex.split(lines[-1]), input=given, capture_output=True, cwd=repository, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def shell_lines(value: object) -> list[str]:
    """All commands in a host's entries."""
    if isinstance(value, dict):
        return [
            line
            for name, inner in value.items()
            for line in ([inner] if name in {"command", "bash"} else shell_lines(inner))
        ]
    return [line for inner in value for line in shell_lines(inner)] if isinstance(value, list) else []
