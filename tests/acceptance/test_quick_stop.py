"""Stop as the launcher calls it: the client goes on once the last message is in the spool, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.amount import amount

from .product import GO_ON, Project, hook_command
from .session_client import SESSION, Client
from .striking import hook_struck_at, run_struck
from .transcripts import Transcript

pytestmark = [pytest.mark.usefixtures("own_interpreters"), pytest.mark.usefixtures("no_settings")]
TOKEN = "ghp_" + "aB3" + "x7Yk2" * 6 + "q9W"
# Notes on stderr whether `os` is loaded when the client may go on, and ends there with `STOPS` in the environment.
NOTING = """
import posix, sys
write = posix.write
def note(descriptor, content):
    written = write(descriptor, content)
    if descriptor == 1:
        write(2, str("os" in sys.modules).encode())
        if b"STOPS" in posix.environ:
            posix._exit(9)
    return written
posix.write = note
"""


@pytest.fixture
def client(project: Project) -> Client:
    """A session with one turn behind it, whose Stop noted its way."""
    session = Client(project)
    session.hook("SessionStart", "brief", source="startup")
    session.asks("Begin with the parser.")
    session.stops()
    return session


def stops(client: Client, text: str, **environment: str) -> str:
    """Run Stop, and return whether `os` was loaded when the client could go on; "" where the whole hook let it."""
    command = hook_command("Stop")
    at = command.index("-c") + 1
    command[at] = NOTING + command[at]
    done = client.project.execute(command, event(client, text), environment)
    assert done.out == GO_ON
    return done.err


def event(client: Client, text: str) -> bytes:
    return client.project.event(
        "Stop", session_id=client.session_id, transcript_path=str(client.path), last_assistant_message=text
    )


def answers(client: Client) -> list[str]:
    return [step["text"] for step in client.project.export(client.session_id) if step["kind"] == "text"]


@pytest.mark.parametrize(
    "text", ["It is done.", "See `a/b.py`:\n  - run `make -j4` --quiet\n\n| <b> |\n|---|", "", "好"]
)
def test_the_client_goes_on_before_the_hook_loads_os(client: Client, text: str) -> None:
    assert stops(client, text) == "False"


@pytest.mark.parametrize(("agent_type", "expected"), [("Explore", "False"), ("", "")], ids=["subagent", "compaction"])
def test_the_client_does_not_wait_for_a_subagent_to_be_archived(client: Client, agent_type: str, expected: str) -> None:
    path = client.project.home / "agent-a1.jsonl"
    written = Transcript("agent-a1", cwd=str(client.project.folder))
    written.prompt("Look for the parser.")
    written.text("It is in lexer.c.")
    written.write(path)
    fields = {"agent_id": "a1", "agent_type": agent_type, "agent_transcript_path": str(path)}
    given = {"session_id": client.session_id, "transcript_path": str(client.path), "last_assistant_message": "x"}
    command = hook_command("SubagentStop")
    at = command.index("-c") + 1
    command[at] = NOTING + command[at]
    done = client.project.execute(command, client.project.event("SubagentStop", **given, **fields), {})
    assert (done.code, done.err) == (0, expected)
    assert done.out == (GO_ON if agent_type else "")
    assert ("It is in lexer.c." in answers(client)) == bool(agent_type)


def test_the_last_message_is_safe_when_the_client_goes_on(client: Client) -> None:
    client.asks("Go on.")
    assert stops(client, "The limit is 42.", STOPS="1") == "False"
    assert client.kept[-1] == "The limit is 42."
    time.sleep(5.1)  # the time after which a transcript counts as complete
    client.hook("SessionStart", "brief", source="resume")
    assert answers(client) == ["Done.", "The limit is 42."]


def test_a_message_is_archived_once_whoever_stored_it(client: Client) -> None:
    for number in range(3):
        client.asks(f"Prompt {number}.")
        client.write("assistant", [{"type": "text", "text": f"Answer {number}."}])
        assert stops(client, f"Answer {number}.") == "False"
    assert answers(client) == ["Done.", "Answer 0.", "Answer 1.", "Answer 2."]


@pytest.mark.parametrize("text", [f"It is {TOKEN}.", "password=hunter2secret", "Say <private>it</private>."])
def test_a_message_that_may_hold_a_secret_waits_for_the_whole_hook(client: Client, text: str) -> None:
    assert stops(client, text) == ""
    assert text not in client.kept
    assert len(client.kept) == 1


def test_after_any_change_on_its_way_the_whole_hook_stores_the_message(client: Client, tmp_path: Path) -> None:
    assert stops(client, "One.") == "False"
    settings = client.project.folder / ".claude" / "unified-state.toml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("restore_tokens = 1500\n", encoding="utf-8")
    assert stops(client, "Two.") == ""
    assert stops(client, "Three.") == "False", "the whole hook notes the way anew"
    assert stops(client, "Four.", UNIFIED_STATE_RESTORE_TOKENS="1200") == ""
    assert stops(client, "Five.", HOME=str(tmp_path)) == "", "another home"


def test_a_way_of_an_earlier_version_is_noted_anew(client: Client) -> None:
    way = client.project.data / "ways" / SESSION
    fields = json.loads(way.read_bytes())
    del fields["syncs"]
    way.write_text(json.dumps(fields), encoding="utf-8")
    assert stops(client, "One.") == ""
    assert stops(client, "Two.") == "False"


def test_where_a_sync_begins_with_stop_the_client_waits_for_that(client: Client) -> None:
    settings = client.project.home / ".config" / "unified-state" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(
        'postgres_enabled = true\npostgres_dsn = "host=127.0.0.1 port=1"\nsync_in_background = true\n', encoding="utf-8"
    )
    for _ in range(2):
        assert stops(client, "Done.") == ""


def test_a_kill_at_any_point_loses_no_message_that_the_client_wrote(client: Client) -> None:
    root = client.project.data
    for point in range(1, 40, amount(1, 4)):
        text = f"Answer {point}."
        client.write("assistant", [{"type": "text", "text": text}])
        command = hook_struck_at(point, root, hook_command("Stop"))
        run_struck(command, client.project.folder, event(client, text))
    client.stops("The last answer.")
    expected = ["Done.", *(f"Answer {point}." for point in range(1, 40, amount(1, 4))), "The last answer."]
    assert answers(client) == expected


def test_forgetting_reaches_what_a_killed_stop_left_half_written(client: Client) -> None:
    (pending,) = client.project.data.glob("repositories/*/pending")
    ended = subprocess.Popen(["true"])
    ended.wait()
    half, whole = (pending / f"{SESSION}@1-{pid}.prompt.tmp" for pid in (ended.pid, os.getpid()))
    for path in (half, whole):  # the second one is still being written
        path.write_text('["text","The limit is 42.",1]', encoding="utf-8")
    assert client.project.at_terminal("forget", "--match", "limit").code == 0
    assert (half.exists(), whole.exists()) == (False, True)


def test_eight_at_once_keep_every_message(client: Client) -> None:
    command = hook_command("Stop")
    variables = {**os.environ, "HOME": str(client.project.home)}
    running = []
    for number in range(8):
        process = subprocess.Popen(
            command, cwd=client.project.folder, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(event(client, f"Answer {number}."))
        process.stdin.close()
        running.append(process)
    for process in running:
        with process:
            assert process.stdout is not None
            assert process.stdout.read().decode() == GO_ON
    waiting = [text for text in client.kept if text != "Done."]
    assert sorted(waiting) == [f"Answer {number}." for number in range(8)]
    for text in waiting:
        client.write("assistant", [{"type": "text", "text": text}])
    client.hook("SessionEnd", reason="other")
    assert answers(client) == ["Done.", *waiting]
