from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.__main__ import finder
from tests.faults.copied_tree import CopiedTree
from tests.faults.planted import Fault

FAULT = Fault(
    "usage-errors", "a usage error exits with 2", "unified_state/errors.py", "exit_code = 2", "exit_code = 1", [], ""
)


@pytest.fixture
def tree(tmp_path: Path) -> CopiedTree:
    return CopiedTree(tmp_path)


def test_a_fault_is_found_by_the_test_that_fails_for_it_alone(tree: CopiedTree) -> None:
    assert finder(tree, FAULT._replace(tests=["tests/test_package.py"]), quick=True) is None
    found = finder(tree, FAULT._replace(tests=["tests/test_errors.py"]), quick=True)
    assert found == "tests/test_errors.py::test_every_error_knows_its_exit_code[UsageError]"
    (tree.root / "tests" / "test_package.py").write_text("def test_fails() -> None:\n    assert False\n")
    assert finder(tree, FAULT._replace(tests=["tests/test_package.py"]), quick=True) is None
