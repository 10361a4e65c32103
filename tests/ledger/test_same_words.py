from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.ledger.rules.same_words import repeats

ALIKE = [
    ("Use SQLite for the archive", "Use SQLite for the archive."),
    ("Use SQLite for the archive", "We use SQLite for the archive"),
    ("Always run the tests before a push", "Run tests before each push"),
    ("Never push to main", "never push to `main`!"),
    ("Do not push to main", "Never push to main"),
    ("Don't push to main", "Never push to main"),
    ("Keep API v1", "keep the API v1"),
    ("Use pytest for all tests", "Use pytest for tests"),
    ("中文 规则", "中文 规则"),
    ("Use", "Use"),
]  # fmt: skip
OTHER = [
    ("Use PostgreSQL for the archive", "Use SQLite for the archive"),
    ("We will use tabs for indentation", "Use spaces for indentation"),
    ("Push to main", "Never push to main"),
    ("Never push to main", "Always push to main"),
    ("Enable the cache", "Disable the cache"),
    ("Enable the query cache", "Disable the query cache"),
    ("Allow force pushes", "Forbid force pushes"),
    ("Keep the old API", "Remove the old API"),
    ("The timeout is 30 seconds", "The timeout is 60 seconds"),
    ("Limit uploads to 10 MB", "Limit uploads to 20 MB"),
    ("Retry at most 3 times", "Retry at most 5 times"),
    ("The server listens on port 8080", "The server listens on port 9090"),
    ("Prefer composition over inheritance", "Prefer inheritance over composition"),
    ("Do not mock the database", "Mock the database"),
    ("Tests must not use the network", "Tests must use the network"),
    ("Use REST as the protocol", "Use gRPC as the protocol"),
    ("Commit messages are in English", "Commit messages are not in English"),
    ("Release on Fridays", "Never release on Fridays"),
    ("Use uuid4 for ids", "Use uuid7 for ids"),
    ("Use black for formatting", "Use ruff for formatting"),
    ("The archive uses SQLite", "Use SQLite for the archive"),
    ("Which port does the proxy use?", "What port does the proxy use?"),
    ("Use tabs in Python files", "Use tabs in Go files"),
    ("Use SQLite for the archive", "Use SQLite for the cache"),
    ("Use requests in client.py", "Use pathlib in client.py"),
    ("Never push to main without review", "Push to main"),
    ("Never push to main", "Never push to release branches"),
    ("Fix issue 12", "Fix issue 13"),
    ("Step 1: write the tests", "Step 2: write the tests"),
    ("Support Python 3.11", "Support Python 3.12"),
    ("Use pytest", "Use mypy"),
    ("Use SQLite", "Use PostgreSQL"),
    ("Don't push if the tests fail", "Push if the tests pass"),
    ("Never delete user data unless asked", "Delete user data"),
    ("The API is slow", "The API is public"),
    ("Use the repository pattern for storage access in services", "Use dependency injection for tests"),
    ("Log in JSON", "Log errors"),
    ("Do not rename the command", "Rename the option"),
    ("Store sessions in Redis", "Store sessions in the database"),
    ("Use A before B", "Use B before C"),
    ("Write docs for each command", "Write tests for each command"),
    ("Remove the feature flag", "Add a feature flag for search"),
    ("Answer in German", "Answer in short sentences"),
    ("No global state", "Global state is documented"),
    ("Never use eval", "Never use exec"),
    ("Keep functions under 40 lines", "Keep files under 250 lines"),
    ("Split the parser into two modules", "Split the lexer into two modules"),
    ("Do not release on Fridays after noon", "Release on Fridays"),
    ("v2 of the schema drops sd", "v3 of the schema drops sd"),
    ("Use black for formatting", "Use black and ruff for formatting"),
    ("Only the owner may merge", "The owner may merge"),
    ("Use", "Use it"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_says_the_same_repeats(one: str, other: str) -> None:
    assert repeats(one, other)
    assert repeats(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_says_the_opposite_or_only_resembles_does_not(one: str, other: str) -> None:
    assert not repeats(one, other)
    assert not repeats(other, one)


@given(st.text())
def test_each_text_repeats_itself(text: str) -> None:
    assert repeats(text, text)
