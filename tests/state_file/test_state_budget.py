from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import item
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem
from unified_state.state_file.page_out import NEWEST_ERRORS, leaving
from unified_state.state_file.state_file import budget_status

MUST_STAY = [
    item(1, CONSTRAINT, blocking=True),
    item(1, DECISION, reversible=False),
    item(1, QUESTION, priority="high"),
    item(1, EVIDENCE, type="error"),
]
USUAL = [item(1, CONSTRAINT), item(1, DECISION), item(1, QUESTION)]
MINOR = [item(1, QUESTION, priority="low"), item(1, EVIDENCE, type="command"), item(1, EVIDENCE, type="observation")]
WAITING = [item(1, CONSTRAINT, blocking=True, status="proposed"), item(1, status="proposed")]
FINISHED = [
    item(1, DECISION, reversible=False, status="superseded"),
    item(1, QUESTION, priority="high", status="resolved"),
    item(1, QUESTION, status="dismissed"),
]
ORDER = [FINISHED, WAITING, MINOR, USUAL, MUST_STAY]


@dataclass
class File:
    """A state file of random items, the oldest first, with their sizes."""

    items: list[LedgerItem]
    sizes: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.sizes.values())


def rank(entry: LedgerItem, errors: list[str]) -> int:
    """How long an item stays, from the design: written down independently of the rule."""
    if entry.kind == EVIDENCE and entry.body["type"] == "error" and entry.status == "active":
        return 4 if entry.uuid in errors[-NEWEST_ERRORS:] else 3
    return next(
        place
        for place, group in enumerate(ORDER)
        if any((entry.kind, entry.status, entry.body) == (like.kind, like.status, like.body) for like in group)
    )


@st.composite
def files(draw: st.DrawFn) -> File:
    kinds = st.sampled_from([entry for group in ORDER for entry in group])
    items = [entry.replace(uuid=str(number)) for number, entry in enumerate(draw(st.lists(kinds, max_size=30)))]
    return File(items, {entry.uuid: draw(st.integers(0, 200)) for entry in items})


def errors_of(file: File) -> list[str]:
    active = (entry for entry in file.items if entry.kind == EVIDENCE and entry.status == "active")
    return [entry.uuid for entry in active if entry.body["type"] == "error"]


budgets = st.integers(0, 2000).flatmap(lambda most: st.tuples(st.integers(0, most), st.just(most)))


@given(files(), budgets)
def test_nothing_leaves_up_to_the_maximum(file: File, budget: tuple[int, int]) -> None:
    if file.total <= budget[1]:
        assert leaving(file.items, file.sizes, file.total, *budget) == []


@given(files(), budgets)
def test_what_must_stay_stays(file: File, budget: tuple[int, int]) -> None:
    gone = leaving(file.items, file.sizes, file.total, *budget)
    assert [entry for entry in gone if rank(entry, errors_of(file)) == 4] == []


@given(files(), budgets)
def test_the_file_ends_at_or_below_the_target_if_that_is_possible(file: File, budget: tuple[int, int]) -> None:
    target, most = budget
    gone = leaving(file.items, file.sizes, file.total, target, most)
    left = file.total - sum(file.sizes[entry.uuid] for entry in gone)
    stayed = [entry for entry in file.items if entry not in gone]
    assert file.total <= most or left <= target or all(rank(entry, errors_of(file)) == 4 for entry in stayed)


@given(files(), budgets)
def test_no_more_leaves_than_needed(file: File, budget: tuple[int, int]) -> None:
    gone = leaving(file.items, file.sizes, file.total, *budget)
    if gone:
        before_the_last = file.total - sum(file.sizes[entry.uuid] for entry in gone[:-1])
        assert before_the_last > budget[0]


@given(files(), budgets)
def test_the_less_important_leave_first_and_of_these_the_older(file: File, budget: tuple[int, int]) -> None:
    gone = leaving(file.items, file.sizes, file.total, *budget)
    order = sorted(file.items, key=lambda entry: (rank(entry, errors_of(file)), int(entry.uuid)))
    assert gone == order[: len(gone)]


def test_only_the_newest_errors_must_stay() -> None:
    errors = [item(number, EVIDENCE) for number in range(1, 6)]
    gone = leaving(errors, {error.uuid: 10 for error in errors}, 50, 0, 0)
    assert [error.alias for error in gone] == ["E1", "E2"]


@pytest.mark.parametrize(
    ("tokens", "status"), [(0, "healthy"), (800, "healthy"), (801, "warning"), (1200, "warning"), (1201, "over_budget")]
)
def test_the_status_says_where_the_size_stands(tokens: int, status: str) -> None:
    assert budget_status(tokens, 800, 1200) == status
