from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.setting_table import ALIASES, PREFIX, SETTINGS
from unified_state.settings import (
    Settings,
    apply_environment,
    default_data_dir,
    environment,
    load_settings,
    user_file,
)


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    folder = tmp_path / "worktree"
    (folder / ".claude").mkdir(parents=True)
    return folder


def write_own(text: str) -> Path:
    path = Path(user_file())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def write_project(worktree: Path, text: str) -> Path:
    path = worktree / ".claude" / "unified-state.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_any_source_the_defaults_are_in_force(worktree: Path) -> None:
    settings = load_settings(str(worktree), {})
    assert settings.problems == []
    for setting in SETTINGS:
        expected = default_data_dir() if setting.name == "data_dir" else setting.default
        assert getattr(settings, setting.name) == expected
        assert settings.origin[setting.name] == "default"


@pytest.mark.usefixtures("own_passwd")
def test_the_users_own_file_beats_the_defaults(worktree: Path) -> None:
    path = write_own("budget_max = 1500\nmask_secrets = false\n")
    settings = load_settings(str(worktree), {})
    assert (settings.budget_max, settings.mask_secrets) == (1500, False)
    assert settings.origin["budget_max"] == str(path)


def test_the_projects_file_beats_the_users_own(worktree: Path) -> None:
    write_own("budget_max = 1500\nbudget_min = 100\n")
    path = write_project(worktree, "budget_max = 1600\n")
    settings = load_settings(str(worktree), {})
    assert (settings.budget_max, settings.budget_min) == (1600, 100)
    assert settings.origin["budget_max"] == str(path)


def test_the_environment_beats_both_files(worktree: Path) -> None:
    write_own("budget_max = 1500\n")
    write_project(worktree, "budget_max = 1600\n")
    settings = load_settings(str(worktree), {"UNIFIED_STATE_BUDGET_MAX": "1700"})
    assert (settings.budget_max, settings.origin["budget_max"]) == (1700, "$UNIFIED_STATE_BUDGET_MAX")


def test_outside_a_worktree_there_is_no_project_file() -> None:
    write_own("budget_max = 1500\n")
    assert load_settings(None, {}).budget_max == 1500


@pytest.mark.parametrize("name", [setting.name for setting in SETTINGS if setting.own_file_only])
def test_what_counts_in_the_users_own_file_only_is_ignored_elsewhere_and_said(worktree: Path, name: str) -> None:
    value = "false" if name == "mask_secrets" else "/stolen"
    path = write_project(worktree, f"{name} = {value if value == 'false' else repr(value)}\n")
    settings = load_settings(str(worktree), {PREFIX + name.upper(): value})
    assert settings.mask_secrets is True
    assert settings.data_dir == default_data_dir()
    assert settings.origin[name] == "default"
    assert settings.problems == [
        f"{path}: {name} is ignored; it counts only in {user_file()}",
        f"${PREFIX}{name.upper()}: {name} is ignored; it counts only in {user_file()}",
    ]


SECRETS = [setting.name for setting in SETTINGS if setting.is_secret]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_of_the_wrong_type_is_not_quoted(worktree: Path, name: str) -> None:
    path = write_own(f'{name} = ["postgresql://ada:hunter2@host/db"]\n')
    assert load_settings(str(worktree), {}).problems == [f"{path}: {name} takes text"]


def test_a_bad_value_is_one_problem_that_names_it_and_the_weaker_source_counts(worktree: Path) -> None:
    write_own("budget_max = 1500\n")
    path = write_project(worktree, 'budget_max = "lots"\n')
    settings = load_settings(str(worktree), {})
    assert settings.budget_max == 1500
    assert settings.problems == [f"{path}: budget_max takes a whole number of tokens, not 'lots'"]


def test_an_unknown_setting_in_a_file_is_a_problem(worktree: Path) -> None:
    path = write_project(worktree, "budget_maximum = 1500\n")
    assert load_settings(str(worktree), {}).problems == [f"{path}: there is no setting 'budget_maximum'"]


@pytest.mark.parametrize("content", [b"budget_max = \n", b"\xff\xfe"])
def test_a_file_that_is_no_toml_is_a_problem_and_nothing_of_it_counts(worktree: Path, content: bytes) -> None:
    path = worktree / ".claude" / "unified-state.toml"
    path.write_bytes(content)
    settings = load_settings(str(worktree), {})
    assert settings.budget_max == 1200
    assert len(settings.problems) == 1
    assert settings.problems[0].startswith(f"{path} cannot be read: ")


@pytest.mark.parametrize("value", ["1", "true", "YES", " on "])
def test_one_variable_turns_everything_off(value: str) -> None:
    settings = load_settings(None, {"UNIFIED_STATE_DISABLE": value})
    assert (settings.enabled, settings.origin["enabled"]) == (False, "$UNIFIED_STATE_DISABLE")


@pytest.mark.parametrize("value", ["0", "false", "", "no"])
def test_that_variable_can_say_no(value: str) -> None:
    settings = load_settings(None, {"UNIFIED_STATE_DISABLE": value})
    assert (settings.enabled, settings.problems) == (True, [])


def test_the_seeds_budget_in_characters_becomes_tokens() -> None:
    settings = load_settings(None, {"CLAUDE_FLOW_COMPACT_RESTORE_BUDGET": "8000"})
    assert (settings.restore_tokens, settings.origin["restore_tokens"]) == (2000, "$CLAUDE_FLOW_COMPACT_RESTORE_BUDGET")


@pytest.mark.parametrize("value", ["many", "-1", "3.5", "²", ""])
def test_a_bad_value_of_a_seeds_name_is_one_problem_that_names_it(value: str) -> None:
    settings = load_settings(None, {"CLAUDE_FLOW_COMPACT_RESTORE_BUDGET": value})
    assert settings.restore_tokens == 4500
    assert len(settings.problems) == 1
    assert "$CLAUDE_FLOW_COMPACT_RESTORE_BUDGET" in settings.problems[0]


@pytest.mark.parametrize("first", [True, False], ids=["set before", "set after"])
@pytest.mark.parametrize("alias", ALIASES)
def test_our_own_name_beats_the_seeds(alias: str, first: bool) -> None:
    name, _ = ALIASES[alias]
    ours, seeds, expected = (
        ("off", "on", False) if isinstance(getattr(Settings(), name), bool) else ("1234", "4000", 1234)
    )
    variables = {PREFIX + name.upper(): ours, alias: seeds}
    settings = load_settings(None, variables if first else dict(reversed(variables.items())))
    assert getattr(settings, name) == expected


def test_other_variables_are_none_of_our_business() -> None:
    assert load_settings(None, {"PATH": "/bin", "UNIFIED_STATE_HOME_OF_SOMETHING": "x"}).problems == []


@given(
    st.dictionaries(
        st.sampled_from([*ALIASES, *(setting.variable for setting in SETTINGS), "UNIFIED_STATE_DISABLE"]),
        st.text() | st.text("0123456789-+_ ²", max_size=6) | st.sampled_from(["true", "off", "full"]),
    )
)
def test_no_environment_stops_a_hook(variables: dict[str, str]) -> None:
    settings = Settings()
    apply_environment(settings, variables)
    for setting in SETTINGS:
        assert setting.parse(getattr(settings, setting.name)) == getattr(settings, setting.name)


def test_the_environment_is_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNIFIED_STATE_BUDGET_MAX", "1700")
    assert environment()["UNIFIED_STATE_BUDGET_MAX"] == "1700"


def test_no_project_can_move_the_users_own_file(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert user_file() == str(home / ".config" / "unified-state" / "config.toml")


@pytest.mark.usefixtures("own_passwd")
def test_the_archives_lie_where_the_user_says() -> None:
    write_own('data_dir = "~/archives"\n')
    assert load_settings(None, {}).data_dir == os.path.expanduser("~/archives")


@pytest.mark.usefixtures("own_passwd")
def test_a_data_folder_that_would_be_another_one_in_each_folder_is_a_problem() -> None:
    write_own('data_dir = "archives"\n')
    settings = load_settings(None, {})
    assert settings.data_dir == default_data_dir()
    assert settings.problems == [f"{user_file()}: data_dir takes an absolute path, not 'archives'"]


def test_a_user_without_a_home_has_folders_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    for folder in (default_data_dir(), os.path.dirname(user_file())):
        with pytest.raises(OSError, match=r".+"):
            os.makedirs(folder)


@pytest.mark.parametrize(
    ("platform", "own_file", "data"),
    [
        ("linux", ".config/unified-state/config.toml", ".local/share/unified-state"),
        ("darwin", ".config/unified-state/config.toml", "Library/Application Support/unified-state"),
        ("win32", "roaming/unified-state/config.toml", "local/unified-state"),
    ],
)
def test_each_platform_has_its_folders(
    monkeypatch: pytest.MonkeyPatch, home: Path, platform: str, own_file: str, data: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("APPDATA", str(home / "roaming"))
    monkeypatch.setenv("LOCALAPPDATA", str(home / "local"))
    assert (user_file(), default_data_dir()) == (str(home / own_file), str(home / data))
