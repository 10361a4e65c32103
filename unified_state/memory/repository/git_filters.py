"""The filters that git finds for a folder. `git status` would run those of changed files, in submodules too.

A filter is a program named in the configuration, and a repository unpacked from an archive brings a configuration
written by a stranger. So every filter found here is switched off by name. Invariant: the configuration of every
repository that git may find from the folder has been read. Submodules are found in git's index.
"""

from __future__ import annotations

import os

from unified_state.lib.stdlib import open_regular
from unified_state.memory.repository.find_repository import common_dir_of, git_dir_of
from unified_state.memory.repository.git_config import ConfigError, GitConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST_REPOSITORIES = 500
_XCODE = "usr/share/git-core/gitconfig"
# Built-in paths of git's system configuration; the `etc` beside the folder of the program is added to them.
_SYSTEM = (
    "/etc/gitconfig",
    "/usr/local/etc/gitconfig",
    "/opt/homebrew/etc/gitconfig",
    f"/Library/Developer/CommandLineTools/{_XCODE}",
    f"/Applications/Xcode.app/Contents/Developer/{_XCODE}",
)
_KEY, _VALUE = "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"


def read_filters(folder: str, git: str, environ: Mapping[str, str]) -> tuple[set[str], bool]:
    """Return the names of the filters, and whether those of all submodules are included. Raises ConfigError.

    `git` is the program that will be called, `environ` the environment that it will have.
    """
    config = GitConfig(environ)
    for path in _machine_files(folder, git, environ):
        config.read(path)
    for name, key in environ.items():
        if name.startswith(_KEY):
            config.define(key, environ.get(_VALUE + name.removeprefix(_KEY), ""))
    found = _Repositories(config)
    folder = os.path.realpath(folder)
    while True:  # git skips a folder whose `.git` is no repository, so it may find any of these
        found.enter(folder)
        if folder == os.path.dirname(folder):
            return config.filters, found.complete
        folder = os.path.dirname(folder)


def _machine_files(folder: str, git: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of the system's and the user's configuration files."""
    if "GIT_CONFIG_SYSTEM" in environ:
        yield os.path.join(folder, environ["GIT_CONFIG_SYSTEM"])
    else:
        yield from _SYSTEM
        yield os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(git))), "etc", "gitconfig")
    if "GIT_CONFIG_GLOBAL" in environ:
        yield os.path.join(folder, environ["GIT_CONFIG_GLOBAL"])
        return
    home = environ.get("HOME", "")
    yield os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "config")
    yield os.path.join(home, ".gitconfig")


class _Repositories:
    """Reads the configuration of repositories and of their submodules, each once."""

    def __init__(self, config: GitConfig) -> None:
        self.complete = True
        self._config = config
        self._seen: set[str] = set()
        self._waiting: list[str] = []

    def enter(self, folder: str) -> None:
        """Read the repositories that git may find in a folder. Raises ConfigError."""
        self._waiting.append(folder)
        while self._waiting:
            folder = self._waiting.pop()
            # Older versions of git use a bare repository despite safe.bareRepository.
            is_bare = os.path.lexists(os.path.join(folder, "HEAD"))
            for git_dir in (git_dir_of(folder), folder if is_bare else None):
                if git_dir is None or git_dir in self._seen:
                    continue
                if len(self._seen) == _MOST_REPOSITORIES:
                    self.complete = False
                    return
                self._seen.add(git_dir)
                self._read(git_dir, folder)

    def _read(self, git_dir: str, worktree: str) -> None:
        for path in (os.path.join(common_dir_of(git_dir), "config"), os.path.join(git_dir, "config.worktree")):
            self._config.read(path)
        try:
            inner = submodules(git_dir)
        except OSError as error:
            message = f"{git_dir}/index: {error.strerror or error}"
            raise ConfigError(message) from error
        self.complete = self.complete and inner is not None
        for top in (worktree, *(os.path.join(git_dir, told) for told in self._config.worktrees)):
            self._waiting += [os.path.join(top, path) for path in inner or ()]


_SUBMODULE = b"\0\0\xe0\0"  # the mode of its entry, 0160000
_SIMPLE = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")  # other versions abbreviate names by the preceding ones
_STEP = 1 << 18  # bytes
_LONGEST_ENTRY = 1 << 13  # bytes from a mode to the end of the name
_HASHES = (20, 32)  # bytes, of SHA-1 and SHA-256
_TO_HASH, _FLAGS, _EXTENDED = 16, 2, 0x40


def submodules(git_dir: str) -> set[str] | None:
    """Return the paths of the submodules in an index, and perhaps more paths; None if a search cannot find them all.

    An entry is found by its mode, in any index that is one file with whole names. The same bytes may occur elsewhere,
    so a path may be false. The entries themselves are not parsed, because there may be a million. Raises OSError.
    """
    if any(name.startswith("sharedindex.") for name in os.listdir(git_dir)):
        return None
    found: set[str] = set()
    try:
        with open_regular(os.path.join(git_dir, "index")) as file:
            if file.read(len(_SIMPLE[0])) not in _SIMPLE:
                return None
            for start in range(0, os.fstat(file.fileno()).st_size, _STEP):
                file.seek(start)
                found.update(_paths(file.read(_STEP + _LONGEST_ENTRY)))
    except FileNotFoundError:
        return found
    return found


def _paths(piece: bytes) -> Iterator[str]:
    """Yield the paths of the entries whose modes begin in the first _STEP bytes of a piece. A path may be false."""
    at = piece.find(_SUBMODULE)
    while -1 < at < _STEP:
        for length in _HASHES:
            flags = at + _TO_HASH + length
            is_extended = bool(piece[flags : flags + 1]) and piece[flags] & _EXTENDED
            name = flags + (2 * _FLAGS if is_extended else _FLAGS)
            yield os.fsdecode(piece[name : piece.find(b"\0", name)])
        at = piece.find(_SUBMODULE, at + 1)
