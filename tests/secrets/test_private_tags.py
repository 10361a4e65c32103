from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.secrets.rules.mask import HIDDEN, hide_private

SECRET = "s3cr3t"
public = st.text(st.characters(exclude_characters="<s3"))


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("nothing here", "nothing here"),
        ("a <private>b</private> c", f"a {HIDDEN} c"),
        ("a <PRIVATE>b</Private> c", f"a {HIDDEN} c"),
        ("<private>a</private><private>b</private>", HIDDEN + HIDDEN),
        ("a <private>never closed", f"a {HIDDEN}"),
        ("a </private> b", "a </private> b"),
        ("İ <private>b</private> İ", f"İ {HIDDEN} İ"),
        ("a <private>b\nc</private>", f"a {HIDDEN}"),
    ],
)
def test_only_what_stands_between_the_tags_is_hidden(prompt: str, kept: str) -> None:
    assert hide_private(prompt) == kept


@given(public, st.text(), public)
def test_nothing_private_is_kept_and_nothing_else_is_lost(before: str, inside: str, after: str) -> None:
    text = f"{before}<private>{inside.replace('<', '')}{SECRET}</private>{after}"
    assert hide_private(text) == f"{before}{HIDDEN}{after}"
