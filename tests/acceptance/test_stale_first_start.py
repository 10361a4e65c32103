"""What the last Stop kept for the next start is printed only while it is true. Otherwise the whole hook composes."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.amount import amount

from .product import Project, all_bytes, hook_command
from .starting_client import Client, reason_before, without_nonce
from .striking import hook_struck_at, run_struck
from .test_quick_start import CODE, OTHER, SESSION
from .transcripts import Transcript

pytestmark = [pytest.mark.usefixtures("own_interpreters"), pytest.mark.usefixtures("no_settings")]
SOURCES = ("startup", "resume", "clear")


@pytest.fixture
def client(project: Project) -> Client:
    project.decide("Keep sessions in SQLite")
    made = Client(project)
    made.turn()
    return made


@pytest.fixture
def other(client: Client) -> Client:
    """Another session in the same worktree, which has not ended a turn yet."""
    return Client(client.project, OTHER)


def test_a_clear_that_brings_everything_back_has_the_whole_hook_look(project: Project, repository: Path) -> None:
    (repository / ".claude").mkdir()
    (repository / ".claude" / "unified-state.toml").write_text('restore_on_clear = "full"\n', encoding="utf-8")
    client = Client(project)
    client.turn()
    client.end("clear")
    done = client.start("clear", "working_set")
    assert done.err != "False"
    assert "42 requests" in done.out


def test_another_client_that_clears_has_the_whole_hook_look(client: Client) -> None:
    client.end("clear")
    assert client.start("clear", CLAUDE_PID="4243").err != "False"


@pytest.mark.parametrize("source", SOURCES)
def test_where_no_stop_ever_came_the_whole_hook_looks(project: Project, source: str) -> None:
    client = Client(project)
    client.written.prompt("Where is the milk?")
    client.written.write(client.path)
    client.end(reason_before(source))
    done = client.start(source)
    assert done.err != "False"
    assert ("the milk" in done.out) == (source != "resume")


def test_the_rest_of_a_killed_session_has_the_whole_hook_look(client: Client) -> None:
    client.written.prompt("Where is the milk?")
    client.written.write(client.path)
    done = client.start("startup")
    assert done.err != "False"
    assert "the milk" in done.out


def test_what_a_session_says_up_to_its_end_has_the_whole_hook_look(client: Client) -> None:
    client.written.prompt("Where is the milk?")
    client.written.write(client.path)
    client.end()
    done = client.start("startup")
    assert done.err != "False"
    assert "the milk" in done.out


def test_a_session_that_began_since_has_the_whole_hook_look(client: Client, other: Client) -> None:
    assert client.start("startup").err != "False"
    client.turn()
    assert client.start("startup").err == "False"
    other.written.prompt("Where is the milk?")
    other.written.write(other.path)  # its hooks have not seen it yet
    assert client.start("startup").err != "False"


def test_a_prompt_that_waits_in_the_spool_has_the_whole_hook_look(client: Client) -> None:
    done = client.project.hook(
        "UserPromptSubmit", session_id=SESSION, transcript_path=str(client.path), prompt="Where is the milk?"
    )
    assert done.code == 0
    started = client.start("startup")
    assert started.err != "False"


def test_a_subagent_that_began_since_has_the_whole_hook_look(client: Client) -> None:
    folder = client.path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    Transcript("a1", cwd="/").write(folder / "agent-a1.jsonl")
    assert client.start("startup").err != "False"


def test_another_worktree_that_decides_has_the_whole_hook_look(
    client: Client, git: Callable[..., str], tmp_path: Path
) -> None:
    client.end()
    elsewhere = tmp_path / "elsewhere"
    git("worktree", "add", "--quiet", str(elsewhere))
    Project(elsewhere, client.project.home).decide("Another worktree decides this")
    done = client.start("startup")
    assert "Another worktree decides this" in done.out
    assert done.err != "False"


def test_a_folder_gets_only_what_was_kept_for_it(client: Client, tmp_path: Path) -> None:
    same = tmp_path / "x" / "-".join("y" * 20) / "repository"  # its file has another name
    shutil.copytree(client.project.folder, same)
    client.end()
    client.project.folder = same
    assert client.start("startup").err != "False"


@pytest.mark.parametrize("change", ["edit", "remove"])
def test_a_file_that_an_item_names_and_that_changed_has_the_whole_hook_look(
    project: Project, repository: Path, change: str
) -> None:
    named = repository / "a.py"
    project.decide("Print with one call in a.py")
    client = Client(project)
    client.turn()
    client.end()
    quick, whole = client.both("startup")
    assert quick == whole
    client.turn()
    client.end()
    if change == "edit":
        named.write_text("print(22)\n", encoding="utf-8")
    else:
        named.unlink()
    done = client.start("startup")
    assert done.err != "False"
    assert "a.py" not in quick.partition("Why: because")[2]
    assert "a.py" in done.out.partition("Why: because")[2]


@pytest.mark.parametrize(
    "commands",
    [
        ["add new.py"],
        ["commit --quiet --allow-empty --message second"],
        ["switch --quiet --create other"],
        ["commit --quiet --allow-empty --message second", "reset --quiet --soft HEAD~"],
    ],
)
def test_any_change_of_git_has_the_whole_hook_look(
    client: Client, git: Callable[..., str], commands: list[str]
) -> None:
    (client.project.folder / "new.py").write_text("x\n", encoding="utf-8")
    client.end()
    for command in commands:
        git(*command.split())
    assert client.start("startup").err != "False"


@pytest.mark.parametrize("change", ["settings", "problem", "aside", "reminders", "rule", "archives"])
def test_any_change_has_the_whole_hook_look(client: Client, change: str) -> None:
    client.end()
    project, folder = client.project, client.files[0].parents[1]
    match change:
        case "settings":
            (project.folder / ".claude").mkdir(exist_ok=True)
            (project.folder / ".claude" / "unified-state.toml").write_text("restore_tokens = 300\n", encoding="utf-8")
        case "problem":
            (folder / "runs" / "Stop").write_text('[1, 2, "it failed"]', encoding="utf-8")
        case "aside":
            (folder / "pending").mkdir(exist_ok=True)
            (folder / "pending" / "x.damaged-1.json").write_text("x", encoding="utf-8")
        case "reminders":
            (folder / "reminders-on").write_text(str(project.folder), encoding="utf-8")
        case "rule":
            (project.folder / ".claude" / "settings.local.json").write_text("{}", encoding="utf-8")
        case "archives":
            (folder.parent / "another").mkdir()  # the first sessions are told that it may be meant
    assert client.start("startup").err != "False"


@pytest.mark.parametrize("way", ["forget", "prune", "purge", "scan"])
def test_forgotten_text_is_gone_from_it_and_never_printed(client: Client, way: str) -> None:
    secret = "ghp_" + "aB3" + "x7Yk2" * 6 + "q9W"
    client.turn("The word is flumadiddle.")
    assert client.files
    if way == "scan":  # as a version left it that did not know this kind of secret
        with closing(sqlite3.connect(client.project.archive)) as archive, archive:
            archive.execute("UPDATE item SET body = replace(body, 'SQLite', ?)", (secret,))
        client.files[0].write_text(client.files[0].read_text().replace("SQLite", secret), encoding="utf-8")
    command = {
        "forget": ("forget", "--session", SESSION),
        "prune": ("forget", "--older-than", "0d"),
        "purge": ("uninstall", "--purge"),
        "scan": ("scan", "--fix"),
    }[way]
    done = client.project.at_terminal(*command)
    assert done.code == 0, done
    assert client.files == []
    if way != "prune":
        assert (secret if way == "scan" else "flumadiddle").encode() not in all_bytes([client.project.data])
    assert secret not in client.start("startup").out


def test_text_that_is_forgotten_behind_the_print_is_not_recorded(client: Client) -> None:
    client.turn("The word is flumadiddle.")
    client.end()
    text = json.loads(client.start("startup", code=CODE.replace("main()", "sys.stdout.flush(); main()")).out)
    assert "flumadiddle" in text["hookSpecificOutput"]["additionalContext"]
    client.settled()
    client.turn("The word is flumadiddle.")
    client.end()
    kept = json.loads(client.files[0].read_bytes())
    printed = {
        **kept,
        "line": "",
        "nonce": "0" * 12,
        "texts": {"brief": text["hookSpecificOutput"]["additionalContext"]},
    }
    done = client.project.at_terminal("forget", "--session", SESSION)
    assert done.code == 0, done
    code = f"from unified_state.interfaces import hook; hook.run('SessionStart', 'brief', printed={printed!r})"
    done = client.project.execute((sys.executable, "-c", code), client.event("startup"), {})
    assert done.code == 0
    client.path.unlink()
    assert b"flumadiddle" not in all_bytes([client.project.data])


@pytest.mark.parametrize("which", ["kept", "way"])
@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"{}", b"\xff", b'{"cwd": 1}', b"[" * 100_000])
def test_a_damaged_file_gets_the_whole_hook(client: Client, damage: bytes, which: str) -> None:
    (way,) = client.project.data.glob("starts/*")
    (client.files[0] if which == "kept" else way).write_bytes(damage)
    done = client.start("startup")
    assert done.err != "False"
    assert "Keep sessions in SQLite" in done.out
    client.turn()
    assert client.start("startup").err == "False"  # the next Stop writes it anew


def test_a_kill_while_it_is_kept_renewed_or_printed_shows_nothing_stale_and_loses_nothing(
    client: Client, tmp_path: Path
) -> None:
    printing = [sys.executable, "-I", "-S", "-c", CODE, "SessionStart", "brief"]
    given = {"session_id": SESSION, "transcript_path": str(client.path)}
    stop = client.project.event("Stop", last_assistant_message="", **given)
    end = client.project.event("SessionEnd", reason="other", **given)
    kills = 0
    for number in range(amount(34, 3)):
        point = 1 + number * amount(1, 4) % 40
        for command, stdin in (
            (hook_command("Stop"), stop),
            (hook_command("SessionEnd"), end),
            (printing, client.event("startup")),
        ):
            said = f"Answer of round {number} before {command[-1]}"
            client.turn(f"Question of round {number} before {command[-1]}", said)
            if command is not printing:
                client.written.text(f"And {said}")
                client.written.write(client.path)
            struck = hook_struck_at(point, tmp_path, command)
            kills += run_struck(struck, client.project.folder, stdin) != 0
            quick = client.start("startup")
            assert said in quick.out
            client.settled()
    assert kills >= amount(50, 3)


@pytest.mark.parametrize("seed", range(amount(4, 1)))
def test_whatever_happens_before_a_start_it_prints_what_the_whole_hook_prints(
    client: Client, git: Callable[..., str], tmp_path: Path, seed: int
) -> None:
    chance, project, named = random.Random(seed), client.project, client.project.folder / "a.py"
    elsewhere = tmp_path / "elsewhere"
    git("worktree", "add", "--quiet", str(elsewhere))
    project.decide("Print with one call in a.py")
    other = Client(project, OTHER)
    numbers = itertools.count()
    actions: list[Callable[[], object]] = [
        *[lambda: client.turn(f"Question {next(numbers)}?", f"Answer {next(numbers)}.")] * 4,
        *[client.end] * 3,
        lambda: other.turn(f"Other question {next(numbers)}?"),
        other.end,
        lambda: project.decide(f"Decision {next(numbers)}"),
        lambda: Project(elsewhere, project.home).decide(f"Decision {next(numbers)} elsewhere"),
        lambda: named.write_text(f"print({next(numbers)})\n", encoding="utf-8"),
        lambda: git("commit", "--quiet", "--allow-empty", "--message", f"commit {next(numbers)}"),
        lambda: project.run("save"),
        lambda: project.run("forget", "--text", f"Question {chance.randrange(20)}?"),
    ]
    quick = 0
    for _ in range(16):
        for action in chance.choices(actions, k=chance.randint(1, 3)):
            action()
        source, kept = chance.choice(("startup", "resume")), project.archive.read_bytes()
        done = client.start(source)
        if done.err == "False":
            quick += 1
            client.settled()
            project.archive.write_bytes(kept)
            assert without_nonce(done.out) == without_nonce(client.whole(source).out)
    assert quick
