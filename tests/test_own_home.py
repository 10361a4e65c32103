"""What a `HOME` that is not the user's may change."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.passwd import need_own_passwd, set_home
from unified_state.setting_table import SETTINGS
from unified_state.settings import (
    database_home,
    default_data_dir,
    is_moved,
    load_settings,
    own_home,
    user_file,
)

LOOSENING = {
    "mask_secrets": "false", "data_dir": '"/elsewhere"', "enabled": "false", "tier": '"json"',
    "postgres_enabled": "true", "postgres_dsn": '"postgresql://evil/x"', "postgres_organisation": '"evil"',
    "sync_in_background": "true",
}  # fmt: skip


@pytest.fixture
def moved(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that `HOME` names and the password database does not."""
    need_own_passwd()
    folder = tmp_path / "moved"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    assert database_home() == str(home)
    return folder


def write(home: Path, text: str) -> None:
    """Write a user's own settings file."""
    path = home / ".config" / "unified-state" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_every_setting_that_counts_only_in_the_users_own_file_is_tried_here() -> None:
    assert {setting.name for setting in SETTINGS if setting.own_file_only} | {"enabled"} == set(LOOSENING)


@pytest.mark.parametrize("name", LOOSENING)
def test_in_a_moved_home_a_setting_that_loosens_is_ignored_and_said(moved: Path, home: Path, name: str) -> None:
    write(moved, f"{name} = {LOOSENING[name]}\n")
    settings = load_settings(None, {})
    (default,) = [setting.default for setting in SETTINGS if setting.name == name]
    assert getattr(settings, name) == (default_data_dir() if name == "data_dir" else default)
    file = ".config/unified-state/config.toml"
    why = f"$HOME is not the home in the password database, and {home}/{file} does not say so too"
    assert settings.ignored == [f"{moved}/{file}: {name} is ignored; {why}"]


@pytest.mark.parametrize("name", LOOSENING)
def test_it_counts_where_both_files_say_so(moved: Path, home: Path, name: str) -> None:
    write(moved, f"{name} = {LOOSENING[name]}\n")
    write(home, f"{name} = {LOOSENING[name]}\n")
    settings = load_settings(None, {})
    assert (settings.origin[name], settings.problems) == (user_file(), [])


def test_both_files_have_to_say_the_same(moved: Path, home: Path) -> None:
    write(moved, 'data_dir = "/elsewhere"\n')
    write(home, 'data_dir = "/somewhere"\n')
    assert load_settings(None, {}).data_dir == default_data_dir()
    write(home, 'data_dir = "/elsewhere"\n')
    assert load_settings(None, {}).data_dir == "/elsewhere"


def test_what_does_not_loosen_follows_home(moved: Path) -> None:
    write(moved, "budget_max = 1500\nmask_secrets = true\n")
    settings = load_settings(None, {})
    assert (settings.budget_max, settings.mask_secrets, settings.problems) == (1500, True, [])
    assert settings.origin["mask_secrets"] == user_file()
    assert settings.data_dir == default_data_dir() == str(moved / ".local" / "share" / "unified-state")


def test_a_home_that_the_database_names_by_a_symlink_is_the_users(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_own_passwd()
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    assert not is_moved(os.environ)
    write(home, "mask_secrets = false\n")
    assert load_settings(None, {}).mask_secrets is False


@pytest.mark.parametrize("below", ["", "fakehome", "a/b/fakehome"])
def test_a_home_inside_a_repository_never_counts(
    home: Path, repository: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    need_own_passwd()
    fake = repository / below
    write(fake, "budget_max = 1500\nmask_secrets = false\n")
    monkeypatch.setenv("HOME", str(fake))
    settings = load_settings(str(repository), {})
    assert (settings.origin["budget_max"], settings.mask_secrets, settings.problems) == ("default", True, [])
    assert settings.data_dir == str(home / ".local" / "share" / "unified-state")
    write(home, "budget_max = 1600\n")
    assert load_settings(str(repository), {}).budget_max == 1600


def test_a_home_inside_the_clients_project_or_behind_a_symlink_out_of_it_never_counts(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_own_passwd()
    project = tmp_path / "project"
    write(project / "fakehome", "budget_max = 1500\n")
    (tmp_path / "out").mkdir()
    (project / "link").symlink_to(tmp_path / "out")
    for name in ("fakehome", "link"):
        monkeypatch.setenv("HOME", str(project / name))
        assert own_home({}) == str(project / name)
        assert own_home({"CLAUDE_PROJECT_DIR": str(project)}) == str(home)


def test_dotfiles_in_a_repository_do_not_move_the_home(home: Path) -> None:
    need_own_passwd()
    (home / ".git").mkdir()
    assert own_home({}) == str(home)


def test_a_user_whom_the_password_database_does_not_know_loosens_nothing(home: Path) -> None:
    need_own_passwd()
    set_home(None)
    write(home, "mask_secrets = false\nbudget_max = 1500\n")
    settings = load_settings(None, {})
    assert (settings.mask_secrets, settings.budget_max) == (True, 1500)


def test_the_prompt_path_asks_the_password_database_only_where_something_loosens(home: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from unified_state.settings import load_settings; "
        "load_settings(sys.argv[1], {}); print('pwd' in sys.modules)"
    )
    asked = []
    for text in ("budget_max = 1500\n", "mask_secrets = false\n"):
        write(home, text)
        command = [sys.executable, "-I", "-c", code, str(tmp_path)]
        asked.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert asked == ["False\n", "True\n"]
