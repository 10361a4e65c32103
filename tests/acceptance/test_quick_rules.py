"""The hook before tool calls as the launcher calls it: it ends early only where the whole check would say nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .product import Done, Project
from .session_client import Client

pytestmark = pytest.mark.usefixtures("own_interpreters")
ROOT = str(Path(__file__).parents[2])
CODE = """
import sys, posix
sys.path.append(sys.argv.pop(1))
end = posix._exit
def note(status):
    posix.write(2, str('os' in sys.modules).encode()); end(status)
posix._exit = note
from unified_state.interfaces.hook_rules import main; main()
"""


@pytest.fixture
def project(repository: Path, home: Path, no_settings: None) -> Project:
    made = Project(repository, home)
    for scope in ("command:git push --force", "path:gen/**"):
        add = ("constraint", "add", f"Never {scope}", "--source", "the team", "--mode", "deny", "--scope", scope)
        assert made.run(*add).code == 0
    return made


@pytest.fixture
def client(project: Project) -> Client:
    session = Client(project)
    session.hook("SessionStart", "brief", source="startup")
    return session


def called(client: Client, tool: str, environment: dict[str, str] | None = None, /, **given: object) -> Done:
    event = client.project.event("PreToolUse", session_id=client.session_id, tool_name=tool, tool_input=given)
    return client.project.execute((sys.executable, "-I", "-S", "-c", CODE, ROOT), event, environment or {})


def ends_early(done: Done) -> bool:
    assert done.code == 0, done
    return done.err == "False"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "gen/a.py"}),
        ("Bash", {"command": "ls -la src && cat a.py"}),
        ("Grep", {"pattern": "x"}),
        ("Edit", {"file_path": "src/a.py", "old_string": "gen/a.py", "new_string": "x"}),
    ],
    ids=["Read", "Bash", "Grep", "Edit"],
)
def test_a_call_that_no_rule_may_match_loads_next_to_nothing(
    client: Client, tool: str, given: dict[str, object]
) -> None:
    done = called(client, tool, **given)
    assert (done.out, ends_early(done)) == ("", True)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "git -C . push origin main -f"}),
        ("Bash", {"command": "echo x > gen/a.py"}),
        ("Bash", {"command": "cd gen; rm a.py"}),
        ("Write", {"file_path": "gen/a.py", "content": "x"}),
        ("Bash", {"command": "env -u CLAUDECODE unified-state constraint lift C1"}),
    ],
    ids=lambda value: str(value.get("command", "")) if isinstance(value, dict) else value,
)
def test_a_call_that_a_rule_stops_is_stopped(client: Client, tool: str, given: dict[str, object]) -> None:
    decided = json.loads(called(client, tool, **given).out)["hookSpecificOutput"]
    assert decided["permissionDecision"] in ("deny", "ask")


def test_an_edit_through_a_symlink_is_stopped(client: Client) -> None:
    folder = client.project.folder
    (folder / "gen").mkdir()
    (folder / "gen" / "a.py").touch()
    (folder / "other").symlink_to("gen")
    (folder / "b.py").symlink_to("gen/a.py")
    (folder / "c.py").symlink_to("gen/new.py")  # which does not exist yet
    for path in ("other/a.py", "other/new.py", "b.py", "c.py", str(folder / "other" / "new.py")):
        decided = json.loads(called(client, "Write", file_path=path, content="x").out)["hookSpecificOutput"]
        assert decided["permissionDecision"] == "deny", path


def test_a_rule_holds_from_the_next_call_on(client: Client) -> None:
    assert ends_early(called(client, "Bash", command="npm publish"))
    add = ("constraint", "add", "Never publish", "--source", "the team", "--mode", "deny")
    assert client.project.run(*add, "--scope", "command:npm publish").code == 0
    assert '"deny"' in called(client, "Bash", command="npm publish").out


@pytest.mark.parametrize("damage", [b"", b"00000000\n{}", b"\xff", None])
def test_a_damaged_table_gets_the_whole_check(client: Client, damage: bytes | None) -> None:
    (table,) = client.project.data.glob("repositories/*/enforced.json")
    table.unlink()
    if damage is not None:
        table.write_bytes(damage)
    assert not ends_early(called(client, "Bash", command="ls"))
    (table,) = client.project.data.glob("repositories/*/enforced.json")
    table.write_bytes(damage or b"")
    assert '"deny"' in called(client, "Bash", command="git push --force").out


def test_a_way_that_is_missing_or_changed_gets_the_whole_check(client: Client, tmp_path: Path) -> None:
    project = client.project
    assert not ends_early(called(client, "Bash", {"CLAUDE_PROJECT_DIR": str(tmp_path)}, command="ls"))
    assert not ends_early(called(client, "Bash", {"UNIFIED_STATE_ENABLED": "true"}, command="ls"))
    assert ends_early(called(client, "Bash", command="ls"))
    (way,) = project.data.glob("ways/*")
    way.write_bytes(b"[" * 5_000)
    assert '"deny"' in called(client, "Bash", command="git push --force").out
    way.unlink()
    assert not ends_early(called(client, "Bash", command="ls"))
    assert '"deny"' in called(client, "Bash", command="git push --force").out


def test_a_problem_of_an_earlier_check_is_gone_after_an_early_end(client: Client) -> None:
    (runs,) = client.project.data.glob("repositories/*/runs")
    (runs / "PreToolUse").write_text('[1, 2, "it failed"]', encoding="utf-8")
    assert ends_early(called(client, "Bash", command="ls"))
    assert not (runs / "PreToolUse").exists()


@pytest.mark.parametrize("given", [b"", b"{", b"[]", b'{"session_id": 7}', b'{"tool_name": "Bash"}'])
def test_an_odd_input_gets_the_whole_check(client: Client, given: bytes) -> None:
    done = client.project.execute((sys.executable, "-I", "-S", "-c", CODE, ROOT), given, {})
    assert not ends_early(done)
