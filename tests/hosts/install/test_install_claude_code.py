"""Our entries in a client's settings file: what is put in comes out again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unified_state.hosts.install.hook_table import tool_matcher
from unified_state.hosts.install.install_claude_code import (
    READ_ONLY_RULES,
    RECORDING_RULES,
    Choices,
    Target,
    install,
    put_tool_hook,
    target,
    uninstall,
)


@pytest.fixture
def place(tmp_path: Path) -> Target:
    """The settings of a worktree."""
    return target("local", str(tmp_path / "project"), {})


@pytest.mark.parametrize(
    "before",
    ['{"model": "opus"}\n', '\ufeff{"model": "opus"}', '{\r\n\t"permissions": {\r\n\t\t"deny": []\r\n\t}\r\n}'],
)
def test_settings_that_allow_reading_and_recording_come_back(place: Target, tmp_path: Path, before: str) -> None:
    path = Path(place.settings_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(before.encode())
    install(place, str(tmp_path / "data"), Choices(reading=True, recording=True))
    allowed = json.loads(path.read_text(encoding="utf-8-sig"))["permissions"]["allow"]
    assert allowed == [*READ_ONLY_RULES, *RECORDING_RULES]
    uninstall(place)
    assert path.read_bytes() == before.encode()


def test_rules_of_the_users_own_stay_among_ours(place: Target, tmp_path: Path) -> None:
    path = Path(place.settings_path)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"permissions": {"allow": ["Bash(ls:*)", READ_ONLY_RULES[0]]}}), encoding="utf-8")
    for _ in range(2):
        install(place, str(tmp_path / "data"), Choices(reading=True))
        allowed = json.loads(path.read_text(encoding="utf-8"))["permissions"]["allow"]
        assert allowed == ["Bash(ls:*)", *READ_ONLY_RULES]
    uninstall(place)
    assert json.loads(path.read_text(encoding="utf-8")) == {"permissions": {"allow": ["Bash(ls:*)"]}}


OWN_HOOK = '{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}'
WITH_OWN_HOOK = f'{{"hooks": {{"PreToolUse": [{OWN_HOOK}]}}}}\r\n'


@pytest.mark.parametrize("before", ['{"model": "opus"}\n', WITH_OWN_HOOK, None])
def test_the_hook_before_tools_comes_changes_and_goes(place: Target, tmp_path: Path, before: str | None) -> None:
    path, data = Path(place.settings_path), str(tmp_path / "data")
    path.parent.mkdir(parents=True)
    if before is not None:
        path.write_bytes(before.encode())
    own = 1 if before and "true" in before else 0
    for matcher in ("Bash", "", "Edit|Write"):
        put_tool_hook(str(path), data, matcher)
        settings = json.loads(path.read_text(encoding="utf-8"))
        assert [group.get("matcher", "") for group in settings["hooks"]["PreToolUse"]][own:] == [matcher]
        assert tool_matcher(settings) == matcher
    install(place, data, Choices(reading=False))
    groups = json.loads(path.read_text(encoding="utf-8"))["hooks"]["PreToolUse"]
    assert [group.get("matcher") for group in groups][own:] == ["Edit|Write"]
    uninstall(place)
    assert (path.read_bytes().decode() if path.exists() else None) == before


def test_a_hook_of_the_users_own_stays_in_an_entry_with_ours(place: Target, tmp_path: Path) -> None:
    path, data = Path(place.settings_path), str(tmp_path / "data")
    install(place, data, Choices())
    settings = json.loads(path.read_text(encoding="utf-8"))
    own = {"type": "command", "command": "true"}
    settings["hooks"]["Stop"][0]["hooks"].append(own)
    path.write_text(json.dumps(settings), encoding="utf-8")
    for is_out in (False, True):
        uninstall(place) if is_out else install(place, data, Choices())
        groups = json.loads(path.read_text(encoding="utf-8"))["hooks"]["Stop"]
        assert own in [handler for group in groups for handler in group["hooks"]]
