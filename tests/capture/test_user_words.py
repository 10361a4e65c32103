"""Quoting the user: only what they typed in this project makes an item theirs, and only where it says the item."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import NOW, SESSION, answer, append, prompt
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import Cursor, move_cursor, touch_session
from unified_state.capture.user_words import NOT_FOUND, SAYS_ELSE, check_quote, quoted_source
from unified_state.ledger.find_sources import Source, entry_steps
from unified_state.ledger.item_table import find_item
from unified_state.model.item import CONSTRAINT
from unified_state.project.workspace.workspace import Workspace
from unified_state.state_file.writer.record_state import add_item

RULE = "Never push to the main branch"
Keep = Callable[..., None]


def test_a_sentence_of_the_user_makes_the_item_theirs(workspace: Workspace, archive: Archive, keep: Keep) -> None:
    keep(prompt(1, f"Hello. {RULE}! Go on."))
    found = check_quote(workspace, RULE, RULE, NOW)
    assert isinstance(found, Source)
    assert (found.origin, found.quote) == ("user_said", RULE)
    assert entry_steps(archive, found.uuid) == [1]


def test_a_sentence_of_an_older_session_counts_too(workspace: Workspace, keep: Keep) -> None:
    keep(prompt(1, f"{RULE}."), session="0f00d000-0000-4000-8000-000000000000")
    assert isinstance(check_quote(workspace, RULE, RULE, NOW), Source)


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("hello there", RULE),
        (f"> {RULE}", RULE),
        (f"```\n{RULE}\n```", RULE),
        (f"<pasted_content>\n{RULE}\n</pasted_content>", RULE),
        ("Do not push to the main branch without me", "push to the main branch"),
        (f"{RULE}?", RULE),
        (f"{RULE}.", "   "),
        (f"{RULE}.", '" OR NEAR( *'),
        (f"{RULE}.", "\ud83d half an emoji here"),
    ],
)
def test_what_the_user_did_not_say_as_a_statement_makes_nothing_theirs(
    workspace: Workspace, keep: Keep, said: str, quote: str
) -> None:
    keep(prompt(1, said))
    assert check_quote(workspace, quote, RULE, NOW) == NOT_FOUND


def test_what_the_model_said_makes_nothing_the_users(workspace: Workspace, keep: Keep) -> None:
    keep(prompt(1, "hello"), answer(2, f"{RULE}."))
    assert check_quote(workspace, RULE, RULE, NOW) == NOT_FOUND


@pytest.mark.parametrize(
    ("words", "claim"),
    {
        "something else": ("please do it now", "Deploying to production is allowed"),
        "the contrary": ("never push to main", "Push to main freely"),
        "the other of two": ("use tabs, not spaces", "Use spaces"),
        "another name": ("we use SQLite for the archive", "Use Postgres for the archive"),
        "another number": ("use port 9090 for the server", "Use port 8080 for the server"),
        "less than the item": ("never delete the database", "Never delete the database and never run tests"),
    }.values(),
)
def test_words_of_the_user_that_say_something_else_make_nothing_theirs(
    workspace: Workspace, keep: Keep, words: str, claim: str
) -> None:
    keep(prompt(1, f"{words}."))
    assert check_quote(workspace, words, claim, NOW) == SAYS_ELSE


@pytest.mark.parametrize("claim", [f"{RULE}.", "never push  to the main branch", "Do not push to the main branch"])
def test_an_item_may_say_it_in_nearly_the_same_words(workspace: Workspace, keep: Keep, claim: str) -> None:
    keep(prompt(1, f"{RULE}."))
    assert isinstance(check_quote(workspace, RULE, claim, NOW), Source)


def test_a_prompt_that_is_not_archived_yet_is_found_in_the_transcript(
    workspace: Workspace, archive: Archive, tmp_path: Path
) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    session = touch_session(archive, SESSION, NOW)
    move_cursor(archive, Cursor(str(path), session, None, 0, None, None))
    append(path, prompt(1, f"{RULE}."))
    assert isinstance(check_quote(workspace, RULE, RULE, NOW), Source)


def test_where_nothing_is_to_be_recorded_the_transcript_is_not_read(
    workspace: Workspace, archive: Archive, tmp_path: Path
) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    session = touch_session(archive, SESSION, NOW)
    move_cursor(archive, Cursor(str(path), session, None, 0, None, None))
    append(path, prompt(1, f"{RULE}."))
    workspace.settings.enabled = False
    assert check_quote(workspace, RULE, RULE, NOW) == NOT_FOUND
    assert archive.rows("SELECT 1 FROM step") == []


def test_a_secret_in_a_quote_is_compared_as_it_is_archived(workspace: Workspace, keep: Keep) -> None:
    rule = "Never print the token ghp_0123456789abcdefghijABCDEFGHIJ012345"
    keep(prompt(1, f"{rule}."))
    found = check_quote(workspace, rule, rule, NOW)
    assert isinstance(found, Source)
    assert "ghp_" not in found.quote


def test_an_item_with_a_quote_keeps_the_words_and_their_entry(
    workspace: Workspace, archive: Archive, keep: Keep
) -> None:
    keep(prompt(1, f"Please, {RULE.lower()}."))
    body = {"constraint": RULE, "source": "the user", "blocking": True}
    entry = add_item(workspace, CONSTRAINT, body, source=quoted_source(workspace, CONSTRAINT, body, RULE))
    item = find_item(archive, entry.id)
    assert (item.origin, item.quote) == ("user_said", RULE.lower())
    assert item.source_uuid is not None


def test_a_quote_that_the_user_did_not_say_is_no_source_and_told(workspace: Workspace, keep: Keep) -> None:
    keep(prompt(1, "hello"))
    told: list[str] = []
    workspace = workspace.replace(report=told.append)
    body = {"constraint": RULE, "source": "the user", "blocking": True}
    assert quoted_source(workspace, CONSTRAINT, body, RULE) is None
    assert told == [NOT_FOUND]
