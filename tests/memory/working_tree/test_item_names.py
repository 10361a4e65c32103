from __future__ import annotations

import pytest

from unified_state.memory.working_tree.item_names import is_about_change


@pytest.mark.parametrize(
    "text",
    [
        "Remove `oldName`",
        "never call fetch_all",
        "we don\u2019t use it",
        "Add a `make lint` target",
        "renamed.",
        "删除它",
    ],
)
def test_a_text_about_a_change_may_name_what_is_gone(text: str) -> None:
    assert is_about_change(text)


@pytest.mark.parametrize("text", ["with_retry caps the backoff at 8 s", "Run `make lint` before each commit", ""])
def test_other_texts_are_about_no_change(text: str) -> None:
    assert not is_about_change(text)
