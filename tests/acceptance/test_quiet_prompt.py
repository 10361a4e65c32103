"""A prompt to which nothing is to be added is kept without opening the archive, and loses and misses nothing."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .product import Project, hook_command
from .session_client import SESSION, Client

pytestmark = [pytest.mark.usefixtures("own_interpreters"), pytest.mark.usefixtures("no_settings")]
TOKEN = "ghp_" + "aB3" + "x7Yk2" * 6 + "q9W"


@pytest.fixture
def client(project: Project) -> Client:
    """A session with one turn behind it."""
    session = Client(project)
    session.hook("SessionStart", "brief", source="startup")
    session.asks("Begin with the parser.")
    session.stops()
    return session


def opens_archive(client: Client, text: str) -> bool:
    """Whether the hook of a prompt loads SQLite."""
    code = "import sys; from unified_state.interfaces import hook; hook.run('UserPromptSubmit')"
    code += "; sys.stderr.write(str('_sqlite3' in sys.modules))"
    event = client.project.event(
        "UserPromptSubmit", session_id=client.session_id, transcript_path=str(client.path), prompt=text
    )
    done = client.project.execute((sys.executable, "-c", code), event, {})
    assert done.err in ("True", "False"), done
    return done.err == "True"


def test_a_prompt_without_additions_does_not_open_the_archive(client: Client) -> None:
    assert not opens_archive(client, "Go on with the lexer.")
    assert "Go on with the lexer." in client.kept


def test_such_a_prompt_is_archived_once_by_the_next_hook(client: Client) -> None:
    client.asks("Go on with the lexer.")
    client.stops()
    assert client.archived == ["Begin with the parser.", "Go on with the lexer."]


def test_such_a_prompt_is_archived_although_the_client_never_wrote_it(client: Client) -> None:
    assert not opens_archive(client, "Go on with the lexer.")
    time.sleep(5.1)  # the time after which a transcript counts as complete
    client.hook("SessionStart", "brief", source="resume")
    assert client.archived == ["Begin with the parser.", "Go on with the lexer."]


def test_without_any_stop_another_process_archives_the_prompts(client: Client) -> None:
    for number in range(6):
        client.asks(f"Do part {number}.")
    until = time.monotonic() + 60
    while "Do part 2." not in client.archived:
        assert time.monotonic() < until
        time.sleep(0.1)
    client.hook("SessionEnd", reason="other")
    assert client.archived == ["Begin with the parser.", *(f"Do part {number}." for number in range(6))]
    assert client.kept in ([], ["Done."])


def test_without_any_stop_the_whole_hook_opens_the_archive_after_four_prompts(client: Client) -> None:
    asked = [f"Do part {number}." for number in range(5)]
    for number, text in enumerate(asked):
        assert opens_archive(client, text) == (number == 4)
        client.write("user", text)
    assert client.archived == ["Begin with the parser.", *asked[:-1]]  # the client wrote the last one afterwards


@pytest.mark.parametrize(
    "command",
    [("search", "walrus"), ("show", "T2"), ("decision", "add", "Walruses are in the zoo", "--rationale", "seen")],
    ids=lambda command: command[0],
)
def test_commands_see_turns_that_no_stop_archived(client: Client, command: tuple[str, ...]) -> None:
    assert not opens_archive(client, "Where does the walrus live?")
    client.write("user", "Where does the walrus live?")
    done = client.project.run(*command)
    assert done.code == 0, done
    with sqlite3.connect(client.project.archive) as archive:
        assert archive.execute("SELECT count(*) FROM step").fetchone() == (3,)  # a prompt, its answer, this prompt
    if command[0] != "decision":
        assert "walrus" in done.out.lower()


def test_a_reader_goes_on_while_another_process_writes(client: Client) -> None:
    assert not opens_archive(client, "Where does the walrus live?")
    client.write("user", "Where does the walrus live?")
    with sqlite3.connect(client.project.archive, isolation_level=None) as held:
        held.execute("BEGIN IMMEDIATE")
        done = client.project.run("search", "hello")
        held.rollback()
    assert done.code == 0
    assert "the newest turns are not archived yet" in done.err
    assert "walrus" in client.project.run("search", "walrus").out


def test_a_transcript_that_may_not_be_read_is_reported_and_archived_when_it_may(client: Client) -> None:
    assert not opens_archive(client, "Where does the walrus live?")
    client.write("user", "Where does the walrus live?")
    client.path.chmod(0)
    prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
    done = Project(client.project.folder, client.project.home, prefix).run("search", "parser")
    assert (done.code, "**parser**" in done.out) == (0, True)
    assert done.err == f"unified-state: {client.path} is not archived yet: Permission denied\n"
    client.path.chmod(0o600)
    assert "walrus" in client.project.run("search", "walrus").out


@pytest.mark.parametrize("place", ["a folder", "a link to itself", "nothing"])
def test_where_no_transcript_is_any_more_the_archive_is_read_all_the_same(client: Client, place: str) -> None:
    assert not opens_archive(client, "Where does the walrus live?")
    client.path.unlink()
    if place == "a folder":
        client.path.mkdir()
    elif place == "a link to itself":
        client.path.symlink_to(client.path.name)
    done = client.project.run("search", "parser")
    assert (done.code, done.err, "**parser**" in done.out) == (0, "", True)


def test_a_damaged_file_of_the_spool_costs_nothing_else(client: Client) -> None:
    assert not opens_archive(client, "Where does the walrus live?")
    client.write("user", "Where does the walrus live?")
    (kept,) = client.project.data.glob(f"repositories/*/pending/{client.session_id}@*.prompt")
    kept.write_bytes(b"")  # as a power cut leaves it
    client.stops()
    assert client.archived == ["Begin with the parser.", "Where does the walrus live?"]


def test_a_session_disabled_while_a_turn_ended_keeps_no_prompt(client: Client) -> None:
    (way,) = client.project.data.glob("ways/*")
    way.unlink()
    settings = client.project.folder / ".claude" / "unified-state.toml"
    event = client.project.event("Stop", session_id=client.session_id, transcript_path=str(client.path))
    code = f"""
from unified_state.interfaces import hook
from unified_state.interfaces.hooks import note_quiet
note = note_quiet.note_quiet
def note_later(call):
    open({str(settings)!r}, "w").write("enabled = false\\n")
    note(call)
note_quiet.note_quiet = note_later
hook.run("Stop")
"""
    settings.parent.mkdir(exist_ok=True)
    client.project.execute((sys.executable, "-c", code), event, {})
    assert settings.exists()
    assert not way.exists()


def loads_os(client: Client, text: str, **environment: str) -> bool:
    """Whether the hook of a prompt, as the launcher calls it, loads more than what keeps the prompt."""
    code = (
        "import sys, builtins, posix; sys.path.append(sys.argv[1]); sys.argv[1:] = ['UserPromptSubmit']\n"
        "end = posix._exit\n"
        "def note(status):\n"
        "    posix.write(2, str('os' in sys.modules).encode()); end(status)\n"
        "posix._exit = note\n"
        "from unified_state.interfaces.hook_prompt import main; main()"
    )
    event = client.project.event(
        "UserPromptSubmit", session_id=client.session_id, transcript_path=str(client.path), prompt=text
    )
    root = str(Path(__file__).parents[2])
    done = client.project.execute((sys.executable, "-I", "-S", "-c", code, root), event, environment)
    assert done.out == "", done
    return done.err != "False"


def test_the_launcher_keeps_such_a_prompt_without_loading_os(client: Client) -> None:
    for text in ("Go on with the lexer.", "And with the parser."):
        assert not loads_os(client, text)
        client.write("user", text)
    client.stops()
    assert client.archived == ["Begin with the parser.", "Go on with the lexer.", "And with the parser."]


@pytest.mark.parametrize("prompt", ["Log in with password=hunter2", "Use <private>it</private>", f"Try {TOKEN}"])
def test_the_launcher_gives_a_prompt_that_may_hold_a_secret_to_the_whole_hook(client: Client, prompt: str) -> None:
    assert loads_os(client, prompt)
    assert len(client.kept) == 1
    assert prompt not in client.kept


def test_the_launcher_gives_a_prompt_to_the_whole_hook_after_any_change_on_its_way(client: Client) -> None:
    folder, home = client.project.folder, client.project.home
    assert loads_os(client, "One.", UNIFIED_STATE_ENABLED="true")
    assert loads_os(client, "Two.", CLAUDE_PROJECT_DIR="/elsewhere")
    own = home / ".config" / "unified-state" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("enabled = true\n", encoding="utf-8")
    assert loads_os(client, "Three.")
    client.stops()
    assert not loads_os(client, "Four.")
    (folder / ".claude").mkdir(exist_ok=True)
    (folder / ".claude" / "unified-state.toml").write_text("recent_minutes = 20\n", encoding="utf-8")
    assert loads_os(client, "Five.")
    client.stops()
    assert not loads_os(client, "Six.")
    (folder / ".git").rename(folder / "git")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    assert loads_os(client, "Seven.")


def test_forgetting_reaches_prompts_in_the_spool(client: Client) -> None:
    assert not loads_os(client, "The quokka is confidential.")
    done = client.project.at_terminal("forget", "--match", "quokka")
    assert done.code == 0, done
    assert not any(b"quokka" in path.read_bytes() for path in client.project.data.rglob("*") if path.is_file())


def test_news_of_another_session_come_with_the_next_prompt(client: Client) -> None:
    client.project.decide("Keep the tokens in a ring buffer")
    assert "ring buffer" in client.asks("Go on with the lexer.")


def test_news_that_arrive_while_the_turn_ends_are_never_missed(client: Client) -> None:
    for number in range(4):
        client.asks(f"Do part {number}.")
        with ThreadPoolExecutor() as pool:
            decided = pool.submit(client.project.decide, f"Use plan {number} of the compiler")
            client.stops()
            decided.result()
        assert f"plan {number}" in client.asks(f"Check part {number}.")
        client.stops()


def test_a_prompt_that_names_a_failed_attempt_is_told_of_it(client: Client) -> None:
    done = client.project.run("attempt", "add", "A hand-written src/lexer.py", "--outcome", "too slow")
    assert done.code == 0, done
    client.asks("Go on.")  # told as news
    client.stops()
    assert not opens_archive(client, "Now the tests.")
    client.write("user", "Now the tests.")
    client.stops()
    assert "too slow" in client.asks("Rewrite lexer.py by hand.")


@pytest.fixture
def tried(client: Client) -> Client:
    """A session that knows nothing of a failed attempt, in an archive in which words can be rare."""
    client.project.run("attempt", "add", "Parsing with Tokenizers of 解析器", "--outcome", "too slow")
    client.asks("Go on.")  # told as news
    for number in range(30):
        client.write("assistant", [{"type": "text", "text": f"Part {number} of the parsing is done."}])
    client.stops()
    return client


@pytest.mark.parametrize("prompt", ["Speed up our TOKENIZERS.", "重写解析吧"])
def test_a_prompt_that_shares_a_rare_word_with_a_failed_attempt_is_told_of_it(tried: Client, prompt: str) -> None:
    assert not opens_archive(tried, "Improve the parsing, please.")  # a word of many steps
    tried.write("user", "Improve the parsing, please.")
    tried.stops()
    assert "too slow" in tried.asks(prompt)
    tried.stops()
    assert opens_archive(tried, prompt)
    assert tried.asks(prompt) == ""  # once


def test_a_secret_in_such_a_prompt_is_never_written(client: Client) -> None:
    assert not opens_archive(client, f"Use {TOKEN} and <private>my name</private> for the upload.")
    (kept,) = (text for text in client.kept if text.startswith("Use "))
    assert "[MASKED github-token" in kept
    data = b"".join(path.read_bytes() for path in client.project.data.rglob("*") if path.is_file())
    assert TOKEN.encode() not in data
    assert b"my name" not in data


def test_the_first_prompts_after_a_compaction_open_the_archive(client: Client) -> None:
    client.hook("PreCompact", trigger="auto")
    client.write("system", "", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    assert opens_archive(client, "Go on.")
    client.write("user", "Go on.")
    client.stops()
    assert opens_archive(client, "And the next part.")


def test_forgetting_removes_what_marks_name(client: Client) -> None:
    client.project.run("attempt", "add", "A hand-written src/quokka.py", "--outcome", "too slow")
    client.asks("Go on.")
    client.stops()
    marks = [path for path in client.project.data.glob("repositories/*/quiet/*") if b"quokka" in path.read_bytes()]
    assert marks
    assert client.project.at_terminal("forget", "A1").code == 0
    assert not any(b"quokka" in path.read_bytes() for path in client.project.data.rglob("*") if path.is_file())


def test_eight_sessions_at_once_keep_every_prompt(project: Project) -> None:
    clients = [Client(project, f"{number}{SESSION[1:]}") for number in range(8)]

    def turns(one: Client) -> None:
        for number in range(3):
            one.asks(f"Part {number} of {one.session_id}.")
            one.stops(f"Done {number}.")

    clients[0].hook("SessionStart", "brief", source="startup")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(turns, clients))
    for one in clients:
        one.hook("SessionEnd", reason="other")
        assert one.archived == [f"Part {number} of {one.session_id}." for number in range(3)]


@pytest.mark.parametrize("seconds", [0.001 * number for number in range(4, 24)])
def test_a_hook_that_is_killed_loses_no_prompt_that_the_client_wrote(client: Client, seconds: float) -> None:
    event = client.project.event(
        "UserPromptSubmit", session_id=SESSION, transcript_path=str(client.path), prompt="Go on with the lexer."
    )
    with subprocess.Popen(
        hook_command("UserPromptSubmit"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=client.project.folder,
        env={**os.environ, "HOME": str(client.project.home)},
    ) as process:
        assert process.stdin is not None
        process.stdin.write(event)
        process.stdin.close()
        time.sleep(seconds)
        process.kill()
    client.write("user", "Go on with the lexer.")
    client.stops()
    assert client.archived == ["Begin with the parser.", "Go on with the lexer."]
