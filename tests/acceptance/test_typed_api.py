"""A program that uses the API: a type checker finds its typos before it runs, and wrong items are refused when it runs.

mypy, which `make lint` runs over this file, fails where one of the comments below is needed no more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from unified_state import UnifiedStateManager
from unified_state.errors import UnifiedStateError


def test_a_typo_is_found_by_a_type_checker_and_refused(repository: Path) -> None:
    with UnifiedStateManager(repository) as manager:
        with pytest.raises(UnifiedStateError, match="hihg"):
            manager.add_open_question("x", "y", "hihg")  # type: ignore[arg-type]
        with pytest.raises(UnifiedStateError, match="eror"):
            manager.add_evidence("eror", "x", "y")  # type: ignore[arg-type]
        with pytest.raises(UnifiedStateError, match="deni"):
            manager.add_constraint("x", "y", scope={"paths": ["a"]}, mode="deni")  # type: ignore[arg-type]
        assert manager.search("x", kind="decisoin") == []  # type: ignore[arg-type]
        assert [decision.rationale for decision in manager.list_decisions("active")] == []
