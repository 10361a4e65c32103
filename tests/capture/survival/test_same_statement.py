"""Whether the user's words say an item; in doubt they do not."""

from __future__ import annotations

import pytest

from unified_state.capture.survival.rules.known_reports import says

SAID = {
    "word for word": ("Use SQLite for the archive.", "Use SQLite for the archive"),
    "with more round it": ("please use SQLite here", "Use SQLite"),
    "in another form": ("API v1 must stay as it is", "API v1 stays"),
    "with its contrary named": ("use tabs, not spaces", "Use tabs"),
    "without spaces": ("永远不要推送到主分支", "永远不要推送到主分支"),
    "two words": ("Go home", "Go home."),
}
NOT_SAID = {
    "something else": ("please go on with it", "Never run the tests"),
    "the contrary": ("never push to main", "Push to main freely"),
    "the other of two": ("use tabs, not spaces", "Use spaces"),
    "another name": ("We use SQLite for the archive", "Use Postgres for the archive"),
    "another number": ("use port 9090 for the server", "Port 8080"),
    "a consent to anything": ("yes please do it now", "Deploying to production is allowed"),
    "less than the item": ("never delete the database", "Never delete the database and never run tests"),
    "nothing": ("", "Never run the tests"),
}


@pytest.mark.parametrize(("words", "claim"), SAID.values(), ids=SAID)
def test_words_that_say_it(words: str, claim: str) -> None:
    assert says(words, claim)


@pytest.mark.parametrize(("words", "claim"), NOT_SAID.values(), ids=NOT_SAID)
def test_words_that_do_not_say_it(words: str, claim: str) -> None:
    assert not says(words, claim)
