"""The planted faults of `make faults` fit the code as it is: each can be planted, and names tests that exist."""

from __future__ import annotations

import ast

from tests.faults.planted import ROOT, Fault, NotApplicableError, read_faults
from tests.structure.package import expect_none

FEWEST = 40


def objection(fault: Fault) -> str | None:
    """Why a fault cannot be planted, or None."""
    path = ROOT / fault.file
    if not path.is_file():
        return f"{fault.name}: there is no {fault.file}"
    code = path.read_text(encoding="utf-8")
    try:
        faulty = fault.planted_in(code)
        is_python = path.suffix == ".py"
        changes = ast.dump(ast.parse(faulty)) != ast.dump(ast.parse(code)) if is_python else faulty != code
    except (NotApplicableError, SyntaxError) as error:
        return f"{fault.name}: {error}"
    return None if changes else f"{fault.name}: it changes nothing"


def is_there(test: str) -> bool:
    file, *names = test.split("::")
    path = ROOT / file
    return path.is_file() and all(f" {name}" in path.read_text(encoding="utf-8") for name in names)


def test_every_fault_can_be_planted() -> None:
    expect_none(filter(None, map(objection, read_faults())))


def test_every_fault_names_tests_that_exist() -> None:
    faults = read_faults()
    expect_none(f"{fault.name}: no tests" for fault in faults if not fault.tests)
    expect_none(f"{fault.name}: {test}" for fault in faults for test in fault.tests if not is_there(test))


def test_there_are_at_least_40_faults_with_names_of_their_own() -> None:
    names = [fault.name for fault in read_faults()]
    assert len(names) >= FEWEST
    assert len(set(names)) == len(names)
