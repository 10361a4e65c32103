"""SessionStart as the launcher calls it: a restore that is ready is printed at once, and only while it is true."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from tests.amount import amount
from unified_state.agents.transcripts.claude_code import read_entry
from unified_state.context.window.pressure_file import keep_pressure, read_pressure
from unified_state.memory.spool.ready_file import WORDLESS

from .product import Done, Project, all_bytes, hook_command
from .striking import hook_struck_at, run_struck
from .transcripts import Transcript

pytestmark = [pytest.mark.usefixtures("own_interpreters"), pytest.mark.usefixtures("no_settings")]
ROOT = str(Path(__file__).parents[2])
SESSION, OTHER = "0b1f8d3c-5a52-4f0e-9a39-6f2c1f1f2a11", "1b1f8d3c-5a52-4f0e-9a39-6f2c1f1f2a12"
CODE = f"import sys; sys.path.append({ROOT!r}); from unified_state.interfaces.hook_start import main; main()"
NOTING = (
    "import posix, sys\n"
    "end = posix._exit\n"
    "def note(status):\n"
    "    posix.write(2, str('os' in sys.modules).encode()); end(status)\n"
    "posix._exit = note\n"
)
PARTS = ("brief", "working_set")


class Session:
    """A session of a project, up to its summary."""

    def __init__(self, project: Project, session_id: str = SESSION) -> None:
        self.project, self.session_id = project, session_id
        self.before = 0  # the time of the brief's handler before the last start
        self.path = project.home / f"{session_id}.jsonl"
        self.written = Transcript(session_id, cwd=str(project.folder))
        self.written.prompt("Add a rate limit to limiter.py.")
        edit = {"file_path": str(project.folder / "limiter.py"), "old_string": "a", "new_string": "b"}
        self.written.call("Edit", edit, "The file was updated.")
        self.written.text("The limit is 42 requests a second.")
        self.written.write(self.path)
        self.hook("SessionStart", "brief", source="startup")

    def hook(self, event: str, part: str = "", /, **fields: object) -> None:
        done = self.project.hook(event, part, session_id=self.session_id, transcript_path=str(self.path), **fields)
        assert (done.code, self.project.log()) == (0, "")

    def compact(self, summary: str = "We went on with the limits.") -> None:
        self.hook("PreCompact", trigger="auto")
        self.summarized(summary)

    def summarized(self, summary: str = "We went on with the limits.") -> None:
        said = f"<summary>{summary}</summary>"
        self.hook("SubagentStop", agent_type="", agent_id="c", last_assistant_message=said)

    def event(self, **fields: object) -> bytes:
        given = {"session_id": self.session_id, "transcript_path": str(self.path), "source": "compact", **fields}
        return self.project.event("SessionStart", **given)

    def start(self, part: str, **environment: str) -> Done:
        self.before = self.project.started_at
        command = (sys.executable, "-I", "-S", "-c", NOTING + CODE, "SessionStart", part)
        done = self.project.execute(command, self.event(), environment)
        assert done.code == 0, done
        return done

    @property
    def told(self) -> str:
        """What both handlers print."""
        return "".join(self.start(part).out for part in PARTS)

    @property
    def is_quick(self) -> bool:
        """Whether the working set is printed by a process that loads next to nothing."""
        return self.start("working_set").err == "False"

    @property
    def files(self) -> list[Path]:
        return list(self.project.data.glob(f"repositories/*/quiet/{self.session_id}.ready"))

    def settled(self) -> None:
        """Wait until the detached process has done the rest of the session's start."""
        self.project.wait_for_start(self.before)


@pytest.fixture
def session(project: Project) -> Session:
    project.decide("Keep sessions in SQLite")
    made = Session(project)
    made.compact()
    return made


def texts(out: str) -> dict[str, str]:
    answer: dict[str, str] = json.loads(out)["hookSpecificOutput"]
    return answer


def test_a_restore_that_is_ready_is_printed_by_a_process_that_loads_next_to_nothing(session: Session) -> None:
    working_set, brief = session.start("working_set"), session.start("brief")
    assert (working_set.err, brief.err) == ("False", "False")
    assert "Keep sessions in SQLite" in texts(brief.out)["additionalContext"]
    assert "42 requests" in texts(working_set.out)["additionalContext"]
    session.settled()


@pytest.mark.parametrize(("source", "is_quick"), [("startup", True), ("resume", True), ("clear", False)])
def test_the_second_handler_ends_at_once_where_it_never_has_anything_to_say(
    session: Session, source: str, is_quick: bool
) -> None:
    command = (sys.executable, "-I", "-S", "-c", NOTING + CODE, "SessionStart", "working_set")
    done = session.project.execute(command, session.event(source=source), {})
    assert (done.code, done.out, done.err == "False") == (0, "", is_quick)


def test_it_prints_what_the_whole_hook_prints(session: Session) -> None:
    quick = {part: session.start(part) for part in reversed(PARTS)}
    assert {done.err for done in quick.values()} == {"False"}
    session.settled()
    for part, done in quick.items():
        code = f"from unified_state.interfaces import hook; hook.run('SessionStart', {part!r})"
        whole = session.project.execute((sys.executable, "-c", code), session.event(), {})
        assert texts(done.out) == texts(whole.out)


def test_the_detached_process_does_the_rest_of_the_start(session: Session) -> None:
    folder = str(session.files[0].parents[1])
    keep_pressure(folder, session.session_id, 2)
    with closing(sqlite3.connect(session.project.archive)) as archive, archive:
        archive.execute("UPDATE session SET seen_at = 1, news = -1")
    session.summarized()
    session.start("brief")
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": str(uuid4()), "sessionId": session.session_id}
    with session.path.open("a", encoding="utf-8") as file:  # the client writes it before the detached process begins
        file.write(json.dumps({**boundary, "timestamp": "2030-01-01T00:00:00Z", "compactMetadata": {}}) + "\n")
    session.settled()
    assert read_pressure(folder, session.session_id) == 0
    with closing(sqlite3.connect(session.project.archive)) as archive:
        ((seen, news),) = archive.execute(
            "SELECT seen_at > 1, news FROM session WHERE session_id = ?", (session.session_id,)
        )
        assert (seen, news >= 1) == (1, True)
        ((restores, told),) = archive.execute(
            "SELECT (SELECT count(compaction) FROM restore), (SELECT count(told_at) FROM survival)"
        )
        ((compactions,),) = archive.execute("SELECT count(*) FROM compaction")
    assert (restores, told, compactions) == (2, 1, 1)  # nothing was composed or begun twice


def test_a_step_that_no_hook_archived_has_the_whole_hook_look(session: Session) -> None:
    assert session.is_quick
    session.written.text("One more word before the restore.")
    session.written.write(session.path)
    assert not session.is_quick
    session.written.text("And another word.")
    session.written.write(session.path)
    session.summarized()
    assert not session.is_quick
    assert "And another word" in session.told


def test_entries_without_words_change_nothing(session: Session) -> None:
    for kind in WORDLESS:
        entry = {"type": kind, "lastPrompt": "Add a rate limit", "sessionId": session.session_id, "atis": ""}
        assert list(read_entry(entry)) == []
        with session.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
    assert session.is_quick
    with session.path.open("a", encoding="utf-8") as file:
        file.write('{"type": "last-prompt"')  # an unfinished line
    assert not session.is_quick


def test_an_archive_that_was_put_back_has_the_whole_hook_look(session: Session) -> None:
    archive = session.project.archive
    before = archive.read_bytes()
    session.project.decide("Only the archive that was replaced has this")
    session.summarized()
    count = archive.read_bytes()[24:28]
    archive.write_bytes(before[:24] + count + before[28:])  # with as many commits
    assert not session.is_quick
    assert "Only the archive that was replaced" not in session.told


def test_a_transcript_of_another_path_or_that_is_no_file_has_the_whole_hook_look(session: Session) -> None:
    path = session.path
    session.path = path.with_name("other.jsonl")
    session.path.write_bytes(path.read_bytes())
    assert not session.is_quick
    session.path = path
    session.summarized()
    path.unlink()
    os.mkfifo(path)
    assert not session.is_quick


def test_a_decision_of_another_session_behind_the_print_is_news_to_this_one(session: Session) -> None:
    printed = json.loads(session.files[0].read_bytes())
    session.project.decide("Use port 8081")  # while the detached process begins
    code = f"from unified_state.interfaces import hook; hook.run('SessionStart', 'brief', printed={printed!r})"
    done = session.project.execute((sys.executable, "-c", code), session.event(), {})
    assert (done.code, done.out) == (0, "")
    done = session.project.hook(
        "UserPromptSubmit", session_id=session.session_id, transcript_path=str(session.path), prompt="Go on."
    )
    assert "Use port 8081" in done.out


def test_nothing_stale_is_printed_whatever_another_worktree_changed(
    session: Session, git: Callable[..., str], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    git("worktree", "add", "--quiet", str(elsewhere))
    Project(elsewhere, session.project.home).decide("Another worktree decides this")
    done = session.start("brief")
    assert "Another worktree decides this" in done.out
    assert done.err != "False"


def test_each_of_two_sessions_in_a_worktree_gets_its_own(session: Session) -> None:
    other = Session(session.project, OTHER)
    other.compact("The other session talks of walruses.")
    assert not session.is_quick  # the other one committed since
    assert "walruses" not in session.told
    session.summarized()
    assert session.is_quick
    other.summarized("The other session talks of walruses.")
    assert other.is_quick
    assert all(f"{one.session_id}.ready" in str(one.files) for one in (session, other))


@pytest.mark.parametrize("way", ["forget", "prune", "purge", "scan"])
def test_forgotten_text_is_gone_from_it_and_never_printed(session: Session, way: str) -> None:
    secret = "ghp_" + "aB3" + "x7Yk2" * 6 + "q9W"
    session.compact("The word is flumadiddle.")
    assert session.files
    if way == "scan":  # as a version left it that did not know this kind of secret
        with closing(sqlite3.connect(session.project.archive)) as archive, archive:
            archive.execute("UPDATE item SET body = replace(body, 'SQLite', ?)", (secret,))
        session.files[0].write_text(session.files[0].read_text().replace("SQLite", secret), encoding="utf-8")
    command = {
        "forget": ("forget", "--session", session.session_id),
        "prune": ("forget", "--older-than", "0d"),
        "purge": ("uninstall", "--purge"),
        "scan": ("scan", "--fix"),
    }[way]
    done = session.project.at_terminal(*command)
    assert done.code == 0, done
    assert session.files == []
    if way != "prune":
        assert (secret if way == "scan" else "flumadiddle").encode() not in all_bytes([session.project.data])
    assert secret not in session.told


@pytest.mark.parametrize(
    "change", ["index", "commit", "branch", "settings", "user settings", "problem", "aside", "reminders", "rule"]
)
def test_any_change_has_the_whole_hook_look(session: Session, git: Callable[..., str], change: str) -> None:
    assert session.is_quick
    project, folder = session.project, session.files[0].parents[1]
    own = project.home / ".config" / "unified-state"
    (project.folder / "new.py").write_text("x\n", encoding="utf-8")
    match change:
        case "index":
            git("add", "new.py")
        case "commit":
            git("commit", "--quiet", "--allow-empty", "--message", "second")
        case "branch":
            git("switch", "--quiet", "--create", "other")
        case "settings":
            (project.folder / ".claude" / "unified-state.toml").write_text("restore_tokens = 300\n", encoding="utf-8")
        case "user settings":
            os.makedirs(own)
            (own / "config.toml").write_text("restore_tokens = 300\n", encoding="utf-8")
        case "problem":
            (folder / "runs" / "Stop").write_text('[1, 2, "it failed"]', encoding="utf-8")
        case "aside":
            (folder / "pending").mkdir(exist_ok=True)
            (folder / "pending" / "x.damaged-1.json").write_text("x", encoding="utf-8")
        case "reminders":
            (folder / "reminders-on").write_text(str(project.folder), encoding="utf-8")
        case "rule":
            (project.folder / ".claude" / "settings.local.json").write_text("{}", encoding="utf-8")
    assert not session.is_quick


def test_another_home_or_setting_in_the_environment_has_the_whole_hook_look(session: Session) -> None:
    assert session.start("working_set", UNIFIED_STATE_RESTORE_TOKENS="300").err != "False"
    assert session.start("working_set", CLAUDE_PROJECT_DIR="/elsewhere").err != "False"


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"{}", b"\xff", b'{"folder": 1}', b"[" * 100_000])
def test_a_damaged_file_gets_the_whole_hook(session: Session, damage: bytes) -> None:
    session.files[0].write_bytes(damage)
    assert not session.is_quick
    assert "Keep sessions in SQLite" in session.told


def test_a_line_waits_for_the_user_is_told_by_the_whole_hook(session: Session) -> None:
    with closing(sqlite3.connect(session.project.archive)) as archive, archive:
        archive.execute("UPDATE item SET status = 'proposed'")
        archive.execute("DELETE FROM meta WHERE name = 'told of the inbox'")
    session.summarized()
    assert session.files == [] or not session.is_quick
    assert "waits for confirmation" in session.start("brief").out


def test_a_client_that_has_gone_costs_nothing(session: Session) -> None:
    command = [sys.executable, "-I", "-S", "-c", CODE, "SessionStart", "brief"]
    environment = {**os.environ, "HOME": str(session.project.home)}
    session.before = session.project.started_at
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        command, cwd=session.project.folder, env=environment, stdin=subprocess.PIPE, stdout=writing
    ) as started:
        os.close(writing)
        started.communicate(session.event())
    assert started.returncode == 0
    session.settled()
    assert session.project.log() == ""


def test_a_kill_while_it_is_prepared_or_printed_shows_nothing_stale_and_loses_nothing(
    session: Session, tmp_path: Path
) -> None:
    preparing = hook_command("SubagentStop")
    printing = [sys.executable, "-I", "-S", "-c", CODE, "SessionStart", "brief"]
    said = "<summary>We went on.</summary>"
    summary = session.project.event(
        "SubagentStop", session_id=session.session_id, transcript_path=str(session.path), agent_type="", agent_id="c",
        last_assistant_message=said,
    )  # fmt: skip
    kills = 0
    for number in range(amount(34, 3)):
        point = 1 + number * amount(1, 4) % 12
        for command, given in ((preparing, summary), (printing, session.event())):
            session.project.decide(f"Decision of round {number} of {command[-1]}")
            if command is printing:
                session.summarized()
            struck = hook_struck_at(point, tmp_path, command)
            kills += run_struck(struck, session.project.folder, given) != 0
            told = session.told
            assert f"Decision of round {number} of {command[-1]}" in told
            assert "42 requests" in told
    assert kills >= amount(50, 3)
