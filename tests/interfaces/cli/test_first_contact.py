"""The first page, suggestions and help: what a new user sees first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interfaces.cli.screen import run
from unified_state.extension import parts
from unified_state.hosts.install.install_claude_code import READ_ONLY_RULES
from unified_state.interfaces.cli.command_table import (
    EXAMPLES,
    FIRST_EXAMPLES,
    PLUMBING,
    all_commands,
    all_groups,
)
from unified_state.lib.package import __version__
from unified_state.model.item import ITEM_KINDS

SHORT, NARROW = 40, 80  # lines, columns


def test_alone_it_prints_a_short_grouped_help_with_examples(empty: Path) -> None:
    done = run(cwd=empty)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) < SHORT
    assert [line for line in lines if len(line) > NARROW and str(empty) not in line] == []
    assert [title for title in all_groups() if title in lines] == [title for title in all_groups() if title != PLUMBING]
    assert [f"  {EXAMPLES[name]}" in lines for name in FIRST_EXAMPLES] == [True] * len(FIRST_EXAMPLES)


def test_alone_it_prints_the_state_of_this_project(recorded: Path) -> None:
    told = run(cwd=recorded).stdout.partition("This project\n")[2]
    assert told.startswith(f"  2 turns and 5 items are kept of {recorded}\n  the state was saved just now; health good")


def test_alone_it_tells_a_project_without_anything_how_to_begin(empty: Path) -> None:
    told = run(cwd=empty).stdout.partition("This project\n")[2]
    assert told.startswith("  nothing is recorded here yet; start claude here after `unified-state install`")
    assert not (empty / ".claude").exists()


@pytest.mark.parametrize("option", ["help", "--help", "-h"])
def test_help_is_the_same_page_without_the_project(empty: Path, option: str) -> None:
    page, _, more = run(cwd=empty).stdout.partition("\nThis project\n")
    done = run(option, cwd=empty)
    end = more.partition("\n\n")[2]
    assert (done.returncode, done.stdout) == (0, f"{page}\n{end}")


def test_help_explains_a_command_and_a_verb(empty: Path) -> None:
    for words in (("search",), ("add", "decision")):
        told = run("help", *words, cwd=empty).stdout
        assert told == run(*words, "--help", cwd=empty).stdout
        assert told.startswith(f"usage: unified-state {' '.join(words)} ")
    assert run("help", "nonsense", cwd=empty).returncode == 2


def test_help_all_lists_every_command_plumbing_too(empty: Path) -> None:
    lines = run("help", "--all", cwd=empty).stdout.splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    assert named == list(all_commands())


@pytest.mark.parametrize("words", ["version", "-V", "--version"])
def test_version_works(empty: Path, words: str) -> None:
    done = run(words, cwd=empty)
    assert (done.returncode, done.stdout) == (0, f"unified-state {__version__}\n")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("decison", "list"), "`decision`"),
        (("inbox", "acept"), "`accept`"),
        (("recal", "D1"), "`recall`"),  # another name of a command
    ],
)
def test_a_typo_gets_a_suggestion(empty: Path, typed: tuple[str, ...], meant: str) -> None:
    done = run(*typed, cwd=empty)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert f"did you mean {meant}" in line


def test_what_means_nothing_here_gets_no_suggestion_and_no_list(empty: Path) -> None:
    (line,) = run("xyzzy", cwd=empty).stderr.splitlines()
    assert line == "unified-state: there is no command 'xyzzy'; see `unified-state --help`"


def test_every_example_of_the_help_is_a_command_line_that_can_be_parsed() -> None:
    import shlex

    from unified_state.interfaces.cli.argument_parser import parse

    for words, example in (pair for table in (EXAMPLES, *parts("EXAMPLES")) for pair in table.items()):
        program, *arguments = shlex.split(example.partition(" > ")[0])
        assert program == "unified-state"
        assert arguments[: len(words.split())] == words.split()
        parse(arguments)


def test_the_names_of_the_users_card_stay(recorded: Path) -> None:
    assert {"validate", "age", "hook"} <= all_commands().keys()
    assert run("validate", cwd=recorded).returncode == 0
    assert run("age", "--max-age", "60", cwd=recorded).returncode == 0
    assert (Path(__file__).parents[3] / "commands" / "context-compact.md").exists()


def test_load_prints_the_state_for_programs(recorded: Path) -> None:
    assert '"decisions":[{"id":"D1",' in run("load", "--json", cwd=recorded).stdout


def test_status_and_age_agree(recorded: Path) -> None:
    import json

    def both() -> tuple[str, str]:
        return run("status", cwd=recorded).stdout, run("age", cwd=recorded).stdout

    status, age = both()
    assert age.startswith("saved just now (recent)\n")
    assert "\n           saved just now: " in status
    told = json.loads(run("status", "--json", cwd=recorded).stdout)
    assert told["recent"]
    (recorded / ".claude" / "unified-session-state.json").unlink()
    status, age = both()
    assert age.startswith("the state was never saved\n")
    assert "\n           never saved: " in status


def test_the_rules_of_allow_reading_decide_and_remove_nothing() -> None:
    allowed = [rule.removeprefix("Bash(unified-state ").removesuffix(")") for rule in READ_ONLY_RULES]
    names = {rule.split(":")[0].split()[0] for rule in allowed}
    assert {"show", "preview", "list", "search"} <= names <= all_commands().keys()
    # With words behind them these decide, or remove.
    assert [rule for rule in allowed if rule.split(":")[0] in {"inbox", "forget"} and ":" in rule] == []


# What somebody types who has read nothing, in a project with five items.
WORK = [
    *(("log",), ("sessions",), ("todo", "Write a test"), ("done", "N1"), ("ls",), ("rule", "Never push to main")),
    *(("remember", "The port is 8001"), ("find", "bucket"), ("get", "D1"), ("why", "D1"), ("rm", "D1"), ("diff", "1d")),
    *(
        ("add", "Keep notes in SQLite"),
        ("version",),
        ("note", "Slow"),
        ("decisions",),
        ("rules",),
        ("last",),
        ("status",),
    ),
    *(
        ("todos",),
        ("today",),
        ("restore",),
        ("update", "D2", "Keep notes in one file"),
        ("help",),
        ("list", "constraints"),
    ),
]
HINTED = {
    "delete": "`drop` or `forget`",
    "serch": "`search`",
    "reset": "`undo` or `forget`",
    "questoin": "`question`",
    "prune": "`forget --older-than`",
}


def test_of_commands_that_people_guess_ten_work_and_five_get_the_right_hint(recorded: Path) -> None:
    for words in WORK:
        assert run(*words, cwd=recorded).returncode == 0, words
    assert "Never push to main" in run("constraint", "list", cwd=recorded).stdout
    assert "C3 " in run("list", "rules", cwd=recorded).stdout
    for word, hint in HINTED.items():
        assert f"did you mean {hint}" in run(word, "D1", cwd=recorded).stderr


def test_there_are_at_most_32_commands_with_those_of_extras() -> None:
    assert len(all_commands()) <= 32


def test_a_kind_and_its_verb_are_said_in_any_order(recorded: Path) -> None:
    for number, words in enumerate((("decision", "add"), ("add", "decision"), ("decision",)), 2):
        assert run(*words, "Keep it small", cwd=recorded).stdout == f"D{number}\n"
    assert run("decision", "supersede", "D2", "Keep it smaller", cwd=recorded).stdout == "D5\n"
    assert run("question", "resolve", "Q1", "Forty", cwd=recorded).stdout == "Q1\n"
    assert run("decision", "lst", cwd=recorded).returncode == 2  # one word is no text
    assert run("decision", "D2", cwd=recorded).stdout == run("show", "D2", cwd=recorded).stdout
    assert run("decision", "why", "D2", cwd=recorded).stdout == run("show", "D2", "--source", cwd=recorded).stdout


@pytest.mark.parametrize(("word", "ref"), [("todo", "N1"), ("note", "N1"), ("rule", "C2"), ("remember", "C2")])
def test_one_word_behind_a_word_that_asks_for_a_text_is_the_text(recorded: Path, word: str, ref: str) -> None:
    assert run(word, "Ship", cwd=recorded).stdout == f"{ref}\n"
    assert run(word, "--json", "install", cwd=recorded).returncode == 0  # a command, but no verb of an item
    assert not (recorded / ".claude" / "settings.local.json").exists()
    assert "Ship" in run(word, ref, cwd=recorded).stdout  # a ref is shown, and a verb is one
    assert ": Ship" in run(word, "list", cwd=recorded).stdout or "Ship." in run(word, cwd=recorded).stdout
    assert run(word, "get", ref, cwd=recorded).returncode == 0


def test_only_the_text_is_required(recorded: Path) -> None:
    for kind in ITEM_KINDS:
        assert run("add", kind, "Which of the two is it?", cwd=recorded).returncode == 0
    assert run("validate", cwd=recorded).returncode == 0
