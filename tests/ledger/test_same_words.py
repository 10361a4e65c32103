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
    ("中文 规则", "中文 规则"),
    ("Use", "Use"),
]  # fmt: skip
OTHER = [
    ("Use PostgreSQL for the archive", "Use SQLite for the archive"),
    ("Push to main", "Never push to main"),
    ("Never push to main", "Always push to main"),
    ("The timeout is 30 seconds", "The timeout is 60 seconds"),
    ("Prefer composition over inheritance", "Prefer inheritance over composition"),
    ("Tests must not use the network", "Tests must use the network"),
    ("The archive uses SQLite", "Use SQLite for the archive"),
    ("Which port does the proxy use?", "What port does the proxy use?"),
    ("Never push to main without review", "Push to main"),
    ("Don't push if the tests fail", "Push if the tests pass"),
    ("Never delete user data unless asked", "Delete user data"),
    ("Use A before B", "Use B before C"),
    ("Do not release on Fridays after noon", "Release on Fridays"),
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
