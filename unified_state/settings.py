"""The settings in force. This is the only module that reads the environment and the settings files.

A value comes from the strongest source that sets it: a `UNIFIED_STATE_*` variable, the project's
`.claude/unified-state.toml`, the user's `config.toml`, the default. A repository's files come from strangers, and so
may the environment (a project's `.claude/settings.json` can set variables). So settings marked `own_file_only` count
only in the user's own file. Elsewhere they are ignored, and `unified-state config` reports that. `HOME` is a variable
too. If it differs from the home in the password database, a setting that loosens a protection counts only if the user's
file in that home has the same value.

A bad value never stops a hook. The next weaker source applies, and the problem is reported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from unified_state.errors import SettingError
from unified_state.lib.read_files import SMALL_FILE, NotOursError, read_own
from unified_state.setting_table import ALIASES, PREFIX, SETTINGS, TRUE, SettingTable

_HAS_DATABASE = sys.platform != "win32"  # Windows has no password database and ignores `HOME`
PROJECT_FILE = os.path.join(".claude", "unified-state.toml")


class Settings(SettingTable):
    """The values in force, the source of each, and the problems found while reading them."""

    def __init__(self) -> None:
        self.origin = {setting.name: "default" for setting in SETTINGS}
        self.ignored: list[str] = []
        self.unusable: list[str] = []
        self.tables: dict[str, dict[str, Any]] = {}  # of extras, by their names, from the user's own file
        for setting in SETTINGS:
            setattr(self, setting.name, setting.default)

    @property
    def problems(self) -> list[str]:
        """Return the settings that were ignored, then those with unusable values."""
        return self.ignored + self.unusable

    def apply(self, values: Mapping[str, object], origin: str, *, own_file: bool = False) -> None:
        """Apply the values of one source. Call it for the weakest source first. Unusable values are recorded and
        skipped.
        """
        for name, value in values.items():
            setting = _BY_NAME.get(name)
            if setting is None and own_file and isinstance(value, dict):
                self.tables[name] = value
            elif setting is None:
                self.unusable.append(f"{origin}: there is no setting {name!r}")
            elif setting.own_file_only and not own_file:
                self.ignored.append(f"{origin}: {name} is ignored; it counts only in {user_file()}")
            else:
                try:
                    setattr(self, name, setting.parse(value))
                    self.origin[name] = origin
                except SettingError as error:
                    self.unusable.append(f"{origin}: {error}")


_BY_NAME = {setting.name: setting for setting in SETTINGS}


def environment() -> Mapping[str, str]:
    """Return the environment of this process."""
    return os.environ


def set_variable(name: str, value: str | None) -> str | None:
    """Set a variable of this process's environment, or remove it with None, for a library that takes its choice from
    there alone. Return the former value.
    """
    before = os.environ.get(name)
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
    return before


def user_file(home: str | None = None) -> str:
    """Return the path of the user's own settings file. XDG variables do not change it, because a project may set them
    for the client's commands.
    """
    folder = os.environ.get("APPDATA", "~") if sys.platform == "win32" else "~/.config"
    return os.path.join(_own_folder(folder, home), "config.toml")


def default_data_dir() -> str:
    """Return the data folder of this platform, the default of `data_dir`."""
    if sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA", "~")
    else:
        folder = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    return _own_folder(folder)


def _own_folder(folder: str, home: str | None = None) -> str:
    """Return our folder inside a folder of the user's. For a user without a home, return a path that cannot be
    created.
    """
    if folder.startswith("~"):
        folder = (own_home(os.environ) if home is None else home) + folder[1:]
    return os.path.join(folder if os.path.isabs(folder) else os.devnull, "unified-state")


def load_settings(worktree: str | None, environ: Mapping[str, str], owner: int | None = None) -> Settings:
    """Return the settings in force in a worktree (None: outside any), from files and environment. `owner` is another
    user whose file counts there.
    """
    own, project = user_file(), os.path.join(worktree, PROJECT_FILE) if worktree else None
    settings = Settings()
    settings.apply(_confirmed(_read_toml(own, settings), own, settings), own, own_file=True)
    if project:
        settings.apply(_read_toml(project, settings, owner), project)
    apply_environment(settings, environ)
    chosen = os.path.expanduser(settings.data_dir)
    if chosen and not os.path.isabs(chosen):
        settings.unusable.append(f"{own}: data_dir takes an absolute path, not {chosen!r}")
    settings.data_dir = chosen if os.path.isabs(chosen) else default_data_dir()
    return settings


def _confirmed(values: dict[str, object], own: str, settings: Settings) -> dict[str, object]:
    """Return the values of the user's own file. Values that loosen a protection must also be in the file in the
    password database's home.
    """
    names = [name for name, value in values.items() if name in _BY_NAME and _BY_NAME[name].loosens(value)]
    if not names or not is_moved(os.environ):
        return values
    other = user_file(database_home())
    confirming = _read_toml(other, settings)
    unsaid = [name for name in names if confirming.get(name) != values[name]]
    why = f"$HOME is not the home in the password database, and {other} does not say so too"
    settings.ignored += [f"{own}: {name} is ignored; {why}" for name in unsaid]
    return {name: value for name, value in values.items() if name not in unsaid}


def apply_environment(settings: Settings, environ: Mapping[str, str]) -> None:
    """Apply the environment, the weakest first: the names of the seed systems, our variables, UNIFIED_STATE_DISABLE."""
    for variable, (name, divisor) in ALIASES.items():
        if variable in environ:
            settings.apply({name: _divided(environ[variable], divisor)}, f"${variable}")
    for setting in SETTINGS:
        if setting.variable in environ:
            settings.apply({setting.name: environ[setting.variable]}, f"${setting.variable}")
    if environ.get(PREFIX + "DISABLE", "").strip().lower() in TRUE:
        settings.apply({"enabled": False}, f"${PREFIX}DISABLE")


def _divided(value: str, divisor: int) -> str:
    """Return a number in our unit. Other text is returned unchanged, so that the setting rejects it."""
    try:
        return str(int(value) // divisor)
    except ValueError:
        return value


def _read_toml(path: str, settings: Settings, owner: int | None = None) -> dict[str, object]:
    """Return the values of a file. One that is not this user's alone is ignored: it may belong to `owner`, or to whose
    folder the user's own file is in.
    """
    if not os.path.exists(path):
        return {}
    import tomllib  # most hooks meet no file

    whose = os.stat(os.path.dirname(path)).st_uid if path == user_file() else owner
    try:
        return tomllib.loads(read_own(path, SMALL_FILE, *([] if whose is None else [whose])).decode())
    except NotOursError as error:
        settings.ignored.append(f"{path} is ignored: {error.strerror}")
        return {}
    except (OSError, ValueError, RecursionError) as error:
        settings.unusable.append(f"{path} cannot be read: {error}")
        return {}


def own_home(environ: Mapping[str, str]) -> str:
    """Return the home folder for `~`.

    If that folder is inside a repository, its files may be a stranger's. Then return the home in the password database,
    or "" if there is none.
    """
    home = os.path.expanduser("~")
    if (
        not _HAS_DATABASE
        or not os.path.isabs(home)
        or not _is_in_repository(home, environ.get("CLAUDE_PROJECT_DIR", ""))
    ):
        return home
    known = database_home()
    return home if known and _is_same(home, known) else known


def database_home() -> str:
    """Return the home of this process's user in the password database, or "" if it has none."""
    if sys.platform == "win32":
        return ""
    import pwd  # rarely needed

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def is_moved(environ: Mapping[str, str]) -> bool:
    """Return whether the home differs from that of the password database."""
    return _HAS_DATABASE and not _is_same(own_home(environ), database_home())


def _is_same(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def _is_in_repository(home: str, project: str) -> bool:
    """Return whether the folder is inside a git repository or the client's project, by its written or resolved path."""
    projects = {project, os.path.realpath(project)} if os.path.isabs(project) else set()
    return any(
        folder in projects or os.path.lexists(os.path.join(folder, ".git"))
        for path in {os.path.abspath(home), os.path.realpath(home)}
        for folder in _with_parents(path)
    )


def _with_parents(path: str) -> Iterator[str]:
    while path != os.path.dirname(path):
        yield path
        path = os.path.dirname(path)
