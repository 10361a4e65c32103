"""The state file: JSON for people and programs, always written whole, with one entry per line.

`StateFile.update` is the only way to write it: lock a sidecar, load, change, write. The digest of our last version is
in the repository's data folder, in the format of `sha256sum`. It shows whether another program changed the file, and it
records the paths of all state files that we ever wrote. A file that cannot be parsed is set aside.

Any program may have written the file: its sections are read tolerantly. A file of the seed is migrated: 1.0.0 had no
structured sections, 2.0.0 called the work item `sd`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, Literal

from unified_state.archive.archive import Archive
from unified_state.errors import DamagedFileError, NewerVersionError, StorageError, UnifiedStateError
from unified_state.lib.files import PRIVATE, FileLock, remove_leftovers, write_atomically, write_note
from unified_state.lib.foreign_values import is_too_deep
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.package import upgrade_line
from unified_state.lib.read_files import LARGE_FILE, SMALL_FILE, NotOursError, read_own, read_regular
from unified_state.lib.record import Record, disk_value
from unified_state.lib.text import well_formed
from unified_state.model.item import STATE_SECTIONS
from unified_state.model.session_state import STATE_VERSION, State
from unified_state.project.place import Place

Json = dict[str, Any]

_LAST_OF_SEED = 2  # major version
_LONGEST_QUOTE = 60
_LONGEST_NUMBER = 9  # digits; every version has fewer
_DIGITS = 64  # of a SHA-256
_SHARED = 0o077  # what other users may do
CHARACTERS_PER_TOKEN = 3.2  # of JSON in o200k; where nothing is counted
DIGEST_ENDING = ".sha256"


class StateContent(Record):
    """The content of a state file: its JSON in the current shape (None without a file), and whether it is as we wrote
    it. `trouble` says why it was set aside.
    """

    json: dict[str, Any] | None
    is_ours: bool
    set_aside: str | None = None
    trouble: str = ""


class StateFile:
    """The state file of one worktree. `digest_path` is the file with the digest of our last version.

    A file that is not this user's alone counts as damaged, unless it belongs to `owner`, the repository's.
    """

    def __init__(self, path: str, digest_path: str, *, seconds: float = 30.0, owner: int | None = None) -> None:
        self.path = path
        self._digest_path = digest_path
        self._owners = () if owner is None else (owner,)
        self._seconds = seconds

    def load(self) -> StateContent:
        """Return the content of the file. Raises DamagedFileError, NewerVersionError or StorageError."""
        raw = self._read()
        if raw is None:
            return StateContent(json=None, is_ours=True)
        state = migrate_state(self._parse(raw), self.path)
        for section in STATE_SECTIONS:
            entries = state.get(section, [])
            if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                raise _damaged(self.path, f"is damaged: {section} is no list of objects")
        return StateContent(json=state, is_ours=sha256(raw).hexdigest() == _known_digest(self._digest_path))

    def update(self, change: Callable[[StateContent], State]) -> State:
        """Write the state that `change` returns for the file's content, and return it.

        The file is locked meanwhile. A damaged file is set aside first.
        """
        with FileLock(self.path.removesuffix(".json") + ".lock", self._seconds):
            try:
                content = self.load()
            except DamagedFileError as error:
                why = error.__cause__
                trouble = f"is not used: {why.strerror}" if isinstance(why, NotOursError) else "was damaged"
                content = StateContent(json=None, is_ours=False, set_aside=self._set_aside(), trouble=trouble)
            state = change(content)
            self._write(encode_state(disk_value(state)))
            remove_leftovers(self.path)
            return state

    def _write(self, raw: bytes) -> None:
        if raw != self._read():
            write_atomically(self.path, raw, PRIVATE)
        elif os.stat(self.path).st_mode & _SHARED:
            os.chmod(self.path, PRIVATE)
        if sha256(raw).hexdigest() != _known_digest(self._digest_path):
            write_note(self._digest_path, os.fsencode(f"{sha256(raw).hexdigest()}  {self.path}\n"))

    def _read(self) -> bytes | None:
        try:
            return read_own(self.path, LARGE_FILE, *self._owners)
        except FileNotFoundError:
            return None
        except NotOursError as error:
            raw = read_regular(self.path, LARGE_FILE)
            if sha256(raw).hexdigest() == _known_digest(self._digest_path):
                return raw  # on a file system that knows other owners or modes, what we wrote may look like this
            raise _damaged(self.path, f"is not used: {error.strerror}") from error
        except OSError as error:
            message = f"{self.path} cannot be read: {error.strerror}"
            raise StorageError(message, "make it a file that you may read") from error

    def _parse(self, raw: bytes) -> dict[str, Any]:
        try:
            value = parse_json(raw.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise _damaged(self.path, f"is damaged: {error}") from error
        if not isinstance(value, dict) or is_too_deep(value):
            raise _damaged(self.path, "does not hold an object that is a state")
        return value

    def _set_aside(self) -> str:
        number = 1
        while os.path.lexists(aside := f"{self.path.removesuffix('.json')}.damaged-{number}.json"):
            number += 1
        try:
            os.rename(self.path, aside)
        except OSError as error:
            message = f"{self.path} cannot be set aside: {error.strerror}"
            raise StorageError(message, "remove it, or make the folder writable for you alone") from error
        return aside


def state_file_of(place: Place, seconds: float = 0.0) -> StateFile:
    """Return the state file of a worktree."""
    return StateFile(place.state_path, place.digest_path, seconds=seconds, owner=place.repository.owner)


def has_foreign_file(place: Place) -> bool:
    """Return whether the state file is not as we wrote it, or cannot be read. A session's start asks."""
    try:
        return not state_file_of(place).load().is_ours
    except UnifiedStateError:
        return True


def written_state_files(folder: str) -> list[str]:
    """Return the paths of all state files whose digests are in a folder, including those of removed worktrees."""
    paths = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(DIGEST_ENDING):
            content = read_regular(os.path.join(folder, name), SMALL_FILE)
            paths.append(os.fsdecode(content[_DIGITS:].strip()))
    return paths


def _known_digest(path: str) -> str | None:
    try:
        return read_regular(path, SMALL_FILE)[:_DIGITS].decode("ascii", "replace")
    except FileNotFoundError:
        return None


def encode_state(fields: dict[str, Any]) -> bytes:
    """Return the file's bytes: an object with one section per line, and one entry of a section per line."""
    sections = [f"  {dump_json(name)}: {_section(value)}" for name, value in fields.items()]
    return well_formed("{\n" + ",\n".join(sections) + "\n}\n").encode()


def _section(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"    {dump_json(entry)}" for entry in value) + "\n  ]"
    if isinstance(value, dict) and value:
        fields = (f"    {dump_json(name)}: {dump_json(entry)}" for name, entry in value.items())
        return "{\n" + ",\n".join(fields) + "\n  }"
    return dump_json(value)


def raw_entries(state: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects in the sections of a file, each with its kind."""
    for section, kind in STATE_SECTIONS.items():
        entries = state.get(section)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict):
                yield kind, entry


def has_entries(archive: Archive, state: dict[str, Any]) -> bool:
    """Return whether the ledger has every entry of the file. If not, the archive was lost and the file has more."""
    known = "SELECT 1 FROM item WHERE alias = ?1 UNION SELECT 1 FROM item_alias WHERE alias = ?1"
    return all(archive.row(known, str(entry.get("id"))) for _, entry in raw_entries(state))


def migrate_state(state: Json, path: str) -> Json:
    """Return the state in the shape of this version.

    Raises NewerVersionError for a newer major version, DamagedFileError for a missing or invalid version.
    """
    version = state.get("version")
    first = version.split(".")[0] if isinstance(version, str) else ""
    if not (first.isascii() and first.isdigit() and len(first) < _LONGEST_NUMBER):
        raise _damaged(path, f"has no version that could be read: {_quoted(version)!r}")
    major = int(first)
    if major > int(STATE_VERSION.split(".")[0]):
        message = f"{path} has version {_quoted(version)}; this unified-state knows up to {STATE_VERSION}"
        raise NewerVersionError(message, f"upgrade unified-state: {upgrade_line()}")
    return state if major > _LAST_OF_SEED else _from_version_2(state)


def budget_status(tokens: int, target: int, most: int) -> Literal["healthy", "warning", "over_budget"]:
    """Return `healthy` up to the target, `warning` up to the maximum, `over_budget` above."""
    return "healthy" if tokens <= target else "warning" if tokens <= most else "over_budget"


def _quoted(version: object) -> str:
    from unified_state.secrets.rules.mask import hide_secrets  # a damaged file can hold anything

    return hide_secrets(str(version))[:_LONGEST_QUOTE]


def _from_version_2(state: Json) -> Json:
    """Versions 1 and 2 called the work item `sd`, whatever ticket system it came from, and had a trigger `auto`."""
    migrated = {name: value for name, value in state.items() if name != "sd"}
    if work_item := state.get("workItem") or state.get("sd"):
        migrated["workItem"] = work_item
    if state.get("trigger") == "auto":
        migrated["trigger"] = "precompact"
    return {**migrated, "version": STATE_VERSION}


def _damaged(path: str, problem: str) -> DamagedFileError:
    return DamagedFileError(f"{path} {problem}", "it is set aside and written anew from the archive")
