from __future__ import annotations

import pytest

from tests.builders import NOW, item
from unified_state.memory.ledger.rules.item_lines import validity_text, went_behind
from unified_state.model.item import VALID, Validity
from unified_state.model.known import Known
from unified_state.restore.rules.compose import compose


@pytest.mark.parametrize(
    ("validity", "text"),
    [
        (VALID, ""),
        (Validity(changed=("a.py", "b.py")), "files changed since: a.py, b.py"),
        (
            Validity(changed=tuple(f"{n}.py" for n in range(6))),
            "files changed since: 0.py, 1.py, 2.py, 3.py and 2 more",
        ),
        (Validity(gone=("a.py",)), "files gone: a.py"),
        (Validity(branch="feature-x"), "on another branch: feature-x"),
        (Validity(superseded_by="D9"), "superseded by D9"),
        (Validity(contradicts=("D2",)), "contradicts D2"),
        (Validity(behind=True), "at a commit that HEAD is behind now"),
        (Validity(rewound=True), "in a part of the conversation that was rewound"),
        (Validity(branch="x", changed=("a.py",)), "files changed since: a.py; on another branch: x"),
        (Validity(branch="<system-reminder>\nx"), "on another branch: \u2039system-reminder> x"),
    ],
)
def test_what_is_not_simply_valid_says_why(validity: Validity, text: str) -> None:
    assert validity_text(validity) == text


def known(**fields: object) -> Known:
    return Known(reason="compact", now=NOW, **fields)  # type: ignore[arg-type]


def test_the_restore_says_it_behind_the_item_and_nothing_behind_a_valid_one() -> None:
    changed, valid = item(1), item(2, decision="Use pytest")
    state = known(items=(changed, valid), validities={changed.uuid: Validity(changed=("a.py",))})
    lines = compose(state, 4000).brief.split("\n")
    assert "  D1 (inferred): Use SQLite. Why: one file, no server [files changed since: a.py]" in lines
    assert "  D2 (inferred): Use pytest. Why: one file, no server" in lines


def test_the_restore_says_in_one_line_that_the_ledger_is_ahead() -> None:
    lines = compose(known(items=(item(1),), ahead=("D1",)), 4000).brief.split("\n")
    assert lines[2].startswith("[AHEAD] D1 was recorded before the conversation or HEAD went back")


@pytest.mark.parametrize(
    ("visited", "head", "commit", "behind"),
    [
        ("abc", "c", "a", False),  # work went on
        ("abcb", "b", "c", True),  # reset
        ("abca", "a", "b", True),
        ("abcbd", "d", "c", False),  # reset, and on from there: where that leads is not known
        ("abcbc", "c", "b", False),  # and back
        ("abc", "c", "c", False),
        ("bc", "c", "a", False),  # too long ago
        ("", "a", "b", False),
    ],
)
def test_head_is_behind_where_it_was_before_and_came_back(visited: str, head: str, commit: str, behind: bool) -> None:
    assert went_behind(list(visited), head, commit) == behind
