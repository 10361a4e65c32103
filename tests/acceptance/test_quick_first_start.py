"""SessionStart after startup, resume and /clear prints at once what the last Stop kept, as the whole hook would."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from unified_state.lib.text import unpack
from unified_state.lib.times import age_text, to_text

from .product import GO_ON, Project, hook_command
from .starting_client import CLIENT, NEXT, Client, reason_before, without_nonce
from .test_quick_start import PARTS, SESSION
from .transcripts import Transcript

pytestmark = [pytest.mark.usefixtures("own_interpreters"), pytest.mark.usefixtures("no_settings")]
SOURCES = ("startup", "resume", "clear")
LATER = "import time; now = time.time; time.time = lambda: now() + {seconds}\n"


@pytest.fixture
def client(project: Project) -> Client:
    project.decide("Keep sessions in SQLite")
    made = Client(project)
    made.turn()
    return made


@pytest.mark.parametrize("source", SOURCES)
def test_each_start_prints_at_once_what_the_whole_hook_prints(client: Client, source: str) -> None:
    client.end(reason_before(source))
    quick, whole = client.both(source)
    assert quick == whole
    assert ("42 requests" in quick, "Keep sessions" in quick) == (source != "resume", source == "startup")


@pytest.mark.parametrize(
    ("source", "is_quick"), [("startup", True), ("resume", True), ("clear", False), ("fork", False)]
)
def test_without_an_end_of_the_session_the_last_stop_counts(client: Client, source: str, is_quick: bool) -> None:
    done = client.start(source)
    assert (done.err == "False") == is_quick
    assert ("42 requests" in done.out) == (source in ("startup", "clear"))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("part", PARTS)
def test_a_setting_that_wants_nothing_is_printed_at_once_too(
    project: Project, source: str, part: str, repository: Path
) -> None:
    (repository / ".claude").mkdir()
    settings = 'restore_on_startup = "nothing"\nrestore_on_clear = "nothing"\n'
    (repository / ".claude" / "unified-state.toml").write_text(settings, encoding="utf-8")
    client = Client(project)
    client.turn()
    client.end(reason_before(source))
    done = client.start(source, part)
    assert (done.out, done.err) == ("", "False")


@pytest.mark.parametrize("seconds", [0, 65, 7_200, 90 * 86_400])
@pytest.mark.parametrize("source", ["startup", "clear"])
def test_ages_are_those_of_the_moment_when_it_is_printed(client: Client, source: str, seconds: int) -> None:
    assert client.project.run("save").code == 0
    client.written.prompt("Now.", timestamp=to_text(int(time.time() * 1000)))
    client.turn("And now.")
    client.end(reason_before(source))
    quick, whole = client.both(source, LATER.format(seconds=seconds))
    assert quick == whole
    assert f"({age_text(seconds * 1000 + 1, 1)})" in quick


def test_a_new_text_is_recorded_with_its_own_nonce_for_the_session_that_got_it(client: Client) -> None:
    client.end("clear")
    done = client.start("clear")
    client.settled()
    (nonce,) = set(re.findall(r"nonce=([0-9a-f]{12})", done.out))
    text = json.loads(done.out)["hookSpecificOutput"]["additionalContext"]
    with closing(sqlite3.connect(client.project.archive)) as archive:
        ((session, before, part, body),) = archive.execute(
            "SELECT session_id, predecessor, part, body FROM restore JOIN session ON session.id = session "
            "WHERE nonce = ?", (nonce,)
        )  # fmt: skip
    assert (session, before, part) == (NEXT, SESSION, "brief")
    assert unpack(body).splitlines() == text.splitlines()[1:-1]


def test_a_first_prompt_registers_its_session_where_the_detached_process_did_not_yet(client: Client) -> None:
    client.session_id, client.path = NEXT, client.path.with_name(f"{NEXT}.jsonl")
    client.written = Transcript(NEXT, cwd=str(client.project.folder))
    client.written.prompt("Go on.")
    client.written.write(client.path)
    client.hook("UserPromptSubmit", prompt="Go on.")
    with closing(sqlite3.connect(client.project.archive)) as archive:
        (found,) = archive.execute("SELECT pid, worktree FROM session WHERE session_id = ?", (NEXT,))
    assert found == (int(CLIENT), str(client.project.folder))


def test_two_sessions_that_start_at_once_get_a_nonce_each(client: Client) -> None:
    client.end()
    file = client.files[0].read_bytes()
    outs = [client.start("startup").out, client.start("startup").out]
    assert outs[0] != outs[1]
    assert without_nonce(outs[0]) == without_nonce(outs[1])
    assert client.files[0].read_bytes() == file


def test_a_decision_behind_the_print_is_news_to_the_new_session(client: Client) -> None:
    client.end()
    printed = json.loads(client.files[0].read_bytes())
    printed = {**printed, "texts": {"brief": "<x>\nText\n</x>"}, "line": "", "nonce": "0" * 12}
    client.project.decide("Use port 8081")  # while the detached process begins
    code = f"from unified_state.interfaces import hook; hook.run('SessionStart', 'brief', printed={printed!r})"
    done = client.project.execute((sys.executable, "-c", code), client.event("startup"), {})
    assert (done.code, done.out) == (0, "")
    with closing(sqlite3.connect(client.project.archive)) as archive:
        assert archive.execute("SELECT count(*) FROM restore WHERE nonce = ?", ("0" * 12,)).fetchone() == (1,)
    done = client.project.hook("UserPromptSubmit", session_id=NEXT, transcript_path="/none", prompt="Go on.")
    assert "Use port 8081" in done.out


def test_an_answer_that_the_client_writes_a_moment_later_is_in_it(client: Client) -> None:
    client.written.prompt("Which limit?")
    client.written.write(client.path)
    client.written.text("It is 43 now.")
    given = {"session_id": SESSION, "transcript_path": str(client.path), "last_assistant_message": "It is 43 now."}
    with subprocess.Popen(
        hook_command("Stop"), cwd=client.project.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as stop:
        assert stop.stdin is not None
        assert stop.stdout is not None
        stop.stdin.write(client.project.event("Stop", **given))
        stop.stdin.close()
        assert stop.stdout.readline() == GO_ON.encode()
        client.written.write(client.path)
    assert client.project.log() == ""
    client.end()
    quick, whole = client.both("startup")
    assert "It is 43 now." in quick
    assert quick == whole


def test_what_waits_for_the_user_is_told_once(client: Client) -> None:
    with closing(sqlite3.connect(client.project.archive)) as archive, archive:
        archive.execute("UPDATE item SET status = 'proposed'")
    client.turn()
    client.end()
    done = client.start("startup")
    assert done.err == "False"
    assert "waits for confirmation" in json.loads(done.out)["systemMessage"]
    client.settled()
    again = client.project.hook("SessionStart", "brief", session_id=NEXT, transcript_path="/none", source="resume")
    assert "waits for confirmation" not in again.out
    client.turn()
    client.end()
    assert "confirmation" not in client.start("startup").out


def test_an_export_is_the_same_as_behind_the_whole_hook(client: Client) -> None:
    client.end()
    kept = client.project.archive.read_bytes()
    exports = []
    for is_quick in (True, False):
        client.project.archive.write_bytes(kept)
        if is_quick:
            client.turn()
            client.end()
            kept = client.project.archive.read_bytes()
            assert client.start("startup").err == "False"
            client.settled()
        else:
            client.whole("startup")
        client.written.write(client.path)
        exports.append(client.project.run("export").out)
    assert exports[0] == exports[1]
