"""The types of the Python API, as a type checker reads them in a program that uses it."""

from __future__ import annotations

from pathlib import Path

from mypy import api as mypy


def test_a_type_checker_finds_a_typo(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from unified_state import UnifiedStateManager\n"
        "with UnifiedStateManager() as manager:\n"
        '    manager.add_open_question("x", "y", "hihg")\n'
        '    manager.add_evidence("eror", "x", "y")\n'
        '    manager.add_constraint("x", "y", scope={"paths": ["a"]}, mode="deni")\n'
        '    manager.search("x", kind="decisoin")\n'
        '    print(manager.list_decisions("active")[0].rationale)\n',
        encoding="utf-8",
    )
    found, _, _ = mypy.run(["--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(program)])
    assert [line.split(":")[1] for line in found.splitlines()[:-1]] == ["3", "4", "5", "6"], found
    assert found.count("[arg-type]") == 4
