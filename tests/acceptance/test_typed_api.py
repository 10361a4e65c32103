"""A program that uses the API: a type checker finds its typos before it runs, and wrong items are refused when it runs.

mypy, which `make lint` runs over this file, fails where one of the comments below is needed no more.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unified_state import UnifiedStateManager
from unified_state.errors import UnifiedStateError
from unified_state.state_file.writer.inspect_state import inspect_state_file

texts = st.text(st.characters(), min_size=1, max_size=40).filter(str.strip)


def test_a_typo_is_found_by_a_type_checker_and_refused(repository: Path) -> None:
    with UnifiedStateManager(repository) as manager:
        with pytest.raises(UnifiedStateError, match="hihg"):
            manager.add_open_question("x", "y", "hihg")  # type: ignore[arg-type]
        with pytest.raises(UnifiedStateError, match="eror"):
            manager.add_evidence("eror", "x", "y")  # type: ignore[arg-type]
        with pytest.raises(UnifiedStateError, match="deni"):
            manager.add_constraint("x", "y", scope={"paths": ["a"]}, mode="deni")  # type: ignore[arg-type]
        with pytest.raises(UnifiedStateError, match="decisoin"):
            manager.search("x", kind="decisoin")  # type: ignore[arg-type]
        assert [decision.rationale for decision in manager.list_decisions("active")] == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda manager: manager.add_decision(None, 3), "decision is None; it should be a valid string"),
        (lambda manager: manager.add_decision("x", ["y"]), "rationale is ['y']; it should be a valid string"),
        (lambda manager: manager.add_decision("x", "y", reversible="no"), "reversible is 'no'; it should be a valid"),
        (
            lambda manager: manager.add_constraint("x", "y", "false"),
            "blocking is 'false'; it should be a valid",
        ),
        (
            lambda manager: manager.add_constraint("x", "y", scope={"commands": ["make", 5]}),
            "scope.commands.1 is 5; it should be a valid string",
        ),
        (lambda manager: manager.save_state(highlights="one"), "highlights is 'one'; 'str' instances are not allowed"),
        (lambda manager: manager.set_work_item(progress=7), "progress is 7; it should be less than or equal to 1"),
        (lambda manager: manager.set_work_item(progress=float("nan")), "progress is nan; it should be"),
        (lambda manager: manager.is_state_recent("an hour"), "max_age_minutes is 'an hour'; it should be a valid"),
        (lambda manager: manager.show(7), "id is 7; it should be a valid string"),
        (lambda _: UnifiedStateManager(5), "project_dir is 5; it should be a valid string"),  # type: ignore[arg-type]
        (lambda _: UnifiedStateManager("/gone"), "project_dir is '/gone'; name a folder that exists"),
    ],
)
def test_an_argument_of_another_type_is_named_with_its_value_and_the_remedy_and_nothing_is_recorded(
    repository: Path, call: Callable[[Any], object], said: str
) -> None:
    manager = UnifiedStateManager(repository)
    with pytest.raises(UnifiedStateError) as caught:
        call(manager)
    assert said in str(caught.value)
    assert manager.load_state() is None


@given(texts, texts, texts, st.booleans(), st.floats(0, 1))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_the_api_writes_validate_accepts(
    repository: Path, one: str, two: str, three: str, flag: bool, share: float
) -> None:
    manager = UnifiedStateManager(repository, "a-session")
    decision = manager.add_decision(one, two, flag)
    manager.supersede_decision(decision.id, three, one, not flag)
    manager.add_constraint(two, three, flag, scope={"paths": ["src/*"]})
    question = manager.add_open_question(three, one, "low")
    manager.resolve_question(question.id, two)
    manager.add_evidence("output", one, three)
    manager.drop(manager.add_attempt(two, one).id, three)
    manager.set_work_item(one, two, three, share)
    manager.save_state(highlights=[one, two], actions=[three])
    path = repository / ".claude" / "unified-session-state.json"
    assert inspect_state_file(str(path), None) == []
