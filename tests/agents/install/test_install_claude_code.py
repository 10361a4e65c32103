"""Our entries in a client's settings file: what is put in comes out again, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unified_state.agents.install.install_claude_code import READ_ONLY_RULES, Target, install, target, uninstall


@pytest.fixture
def place(tmp_path: Path) -> Target:
    """The settings of a worktree."""
    return target("local", str(tmp_path / "project"), {})


@pytest.mark.parametrize(
    "before", ['{"model": "opus"}\n', '\ufeff{"model": "opus"}', '{\r\n\t"permissions": {"deny": []}\r\n}']
)
def test_settings_that_allow_reading_come_back_byte_for_byte(place: Target, tmp_path: Path, before: str) -> None:
    path = Path(place.settings_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(before.encode())
    install(place, str(tmp_path / "data"), allow_reading=True)
    allowed = json.loads(path.read_text(encoding="utf-8-sig"))["permissions"]["allow"]
    assert allowed == list(READ_ONLY_RULES)
    uninstall(place, str(tmp_path / "data"))
    assert path.read_bytes() == before.encode()


def test_rules_of_the_users_own_stay_among_ours(place: Target, tmp_path: Path) -> None:
    path = Path(place.settings_path)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"permissions": {"allow": ["Bash(ls:*)", READ_ONLY_RULES[0]]}}), encoding="utf-8")
    for _ in range(2):
        install(place, str(tmp_path / "data"), allow_reading=True)
        allowed = json.loads(path.read_text(encoding="utf-8"))["permissions"]["allow"]
        assert allowed == ["Bash(ls:*)", *READ_ONLY_RULES]
    uninstall(place, str(tmp_path / "data"))
    assert json.loads(path.read_text(encoding="utf-8")) == {"permissions": {"allow": ["Bash(ls:*)"]}}
