"""The state file: JSON for people and programs, always written whole, with one entry per line.

`StateFile.update` is the only way to write it: lock a sidecar, load, change, write. The digest of our last version is
in the repository's data folder, in the format of `sha256sum`. It shows whether another program changed the file, and it
records the paths of all state files that we ever wrote. A file that cannot be parsed is set aside.

A file of an earlier version is migrated in small steps: 1.0.0 had no structured sections, 2.0.0 called the work item
`sd`.
"""

from __future__ import annotations

import os

from unified_state.errors import DamagedFileError, NewerVersionError, StorageError
from unified_state.lib.files import FileLock, remove_leftovers, write_atomically, write_note
from unified_state.lib.record import Record, disk_value
from unified_state.lib.stdlib import LARGE_FILE, SMALL_FILE, dump_json, parse_json, read_regular, sha256_digits
from unified_state.lib.text import well_formed
from unified_state.model.item import STATE_SECTIONS
from unified_state.model.session_state import STATE_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from unified_state.model.session_state import State

    Json = dict[str, Any]

_SECTIONS_OF_2 = ("decisions", "constraints", "openQuestions", "evidenceLedger")
_LONGEST_QUOTE = 60
_LONGEST_NUMBER = 9  # digits; every version has fewer
_DEEPEST = 100  # levels of nesting; far below Python's limit
_DIGITS = 64  # of a SHA-256
DIGEST_ENDING = ".sha256"


class StateContent(Record):
    """The content of a state file: its JSON in the current shape (None without a file), and whether it is as we wrote
    it.
    """

    json: dict[str, Any] | None
    is_ours: bool
    set_aside: str | None = None


class StateFile:
    """The state file of one worktree. `digest_path` is the file with the digest of our last version."""

    def __init__(self, path: str, digest_path: str, *, seconds: float = 30.0) -> None:
        self.path = path
        self._digest_path = digest_path
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
                message = f"{self.path} is damaged: {section} is no list of objects"
                raise DamagedFileError(message, "it is set aside and written anew from the archive")
        return StateContent(json=state, is_ours=sha256_digits(raw) == _known_digest(self._digest_path))

    def update(self, change: Callable[[StateContent], State]) -> State:
        """Write the state that `change` returns for the file's content, and return it.

        The file is locked meanwhile. A damaged file is set aside first.
        """
        with FileLock(self.path.removesuffix(".json") + ".lock", self._seconds):
            try:
                content = self.load()
            except DamagedFileError:
                content = StateContent(json=None, is_ours=False, set_aside=self._set_aside())
            state = change(content)
            self._write(_encode(disk_value(state)))
            remove_leftovers(self.path)
            return state

    def rename(self, names: Mapping[tuple[str, str], str]) -> None:
        """Give entries other ids, found by their present id and time. A file changed by others still counts as
        changed.
        """
        with FileLock(self.path.removesuffix(".json") + ".lock", self._seconds):
            try:
                content = self.load()
            except DamagedFileError:
                return  # the next write sets the damaged file aside
            fields = content.json or {}
            entries = [entry for section in fields.values() if isinstance(section, list) for entry in section]
            for entry in (entry for entry in entries if isinstance(entry, dict)):
                entry["id"] = names.get((str(entry.get("id")), str(entry.get("timestamp"))), entry.get("id"))
            if content.is_ours:
                self._write(_encode(fields))
            else:
                write_atomically(self.path, _encode(fields))

    def trust(self, digest_path: str) -> None:
        """Treat the file as ours if it has the digest stored at another path, where it was written last."""
        with FileLock(self.path.removesuffix(".json") + ".lock", self._seconds):
            raw = self._read()
            if raw is not None and sha256_digits(raw) == _known_digest(digest_path):
                self._write(raw)

    def _write(self, raw: bytes) -> None:
        if raw != self._read():
            write_atomically(self.path, raw)
        if sha256_digits(raw) != _known_digest(self._digest_path):
            write_note(self._digest_path, os.fsencode(f"{sha256_digits(raw)}  {self.path}\n"))

    def _read(self) -> bytes | None:
        try:
            return read_regular(self.path, LARGE_FILE)
        except FileNotFoundError:
            return None
        except OSError as error:
            message = f"{self.path} cannot be read: {error.strerror}"
            raise StorageError(message, "make it a file that you may read") from error

    def _parse(self, raw: bytes) -> dict[str, Any]:
        try:
            value = parse_json(raw.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            message = f"{self.path} is damaged: {error}"
            raise DamagedFileError(message, "it is set aside and written anew from the archive") from error
        if not isinstance(value, dict) or _depth(value) > _DEEPEST:
            message = f"{self.path} does not hold an object that is a state"
            raise DamagedFileError(message, "it is set aside and written anew from the archive")
        return value

    def _set_aside(self) -> str:
        number = 1
        while os.path.lexists(aside := f"{self.path.removesuffix('.json')}.damaged-{number}.json"):
            number += 1
        os.rename(self.path, aside)
        return aside


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


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [entry for each in level for entry in (each.values() if isinstance(each, dict) else each)]
        level = [entry for entry in inner if isinstance(entry, (dict, list))]
    return depth


def _encode(fields: dict[str, Any]) -> bytes:
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


def migrate_state(state: Json, path: str) -> Json:
    """Return the state in the shape of this version.

    Raises NewerVersionError for a newer major version, DamagedFileError for a missing or invalid version.
    """
    version = state.get("version")
    first = version.split(".")[0] if isinstance(version, str) else ""
    if not (first.isascii() and first.isdigit() and len(first) < _LONGEST_NUMBER):
        message = f"{path} has no version that could be read: {_quoted(version)!r}"
        raise DamagedFileError(message, "it is set aside and written anew from the archive")
    major = int(first)
    if major > int(STATE_VERSION.split(".")[0]):
        from unified_state.lib.package import upgrade_line  # rarely needed

        message = f"{path} has version {_quoted(version)}; this unified-state knows up to {STATE_VERSION}"
        raise NewerVersionError(message, f"upgrade unified-state: {upgrade_line()}")
    for step in _STEPS[max(0, major - 1) :]:
        state = step(state)
    return state


def _quoted(version: object) -> str:
    from unified_state.memory.secrets.rules.mask import hide_secrets  # a damaged file can hold anything

    return hide_secrets(str(version))[:_LONGEST_QUOTE]


def _from_1_to_2(state: Json) -> Json:
    """Version 2.0.0 added the four sections and the token metrics."""
    empty: Json = {section: [] for section in _SECTIONS_OF_2}
    return {**empty, "tokenMetrics": {}, **state, "version": "2.0.0"}


def _from_2_to_3(state: Json) -> Json:
    """Migrate to version 3.0.0.

    It calls the work item `workItem`, whatever ticket system it comes from, and has only the trigger `precompact`. It
    derives the key decisions from the decisions, so key decisions become decisions if the file has no others.
    """
    migrated = {name: value for name, value in state.items() if name != "sd"}
    work_item = state.get("workItem") or state.get("sd")
    if isinstance(work_item, dict):
        migrated["workItem"] = work_item
    if state.get("trigger") == "auto":
        migrated["trigger"] = "precompact"
    if not state.get("decisions") and (decisions := _key_decisions(state)):
        migrated["decisions"] = decisions
    return {**migrated, "version": STATE_VERSION}


def _key_decisions(state: Json) -> list[Json]:
    summaries = state.get("summaries")
    texts = summaries.get("keyDecisions") if isinstance(summaries, dict) else None
    decisions = [text for text in texts if isinstance(text, str) and text.strip()] if isinstance(texts, list) else []
    return [
        {"id": f"D{number}", "decision": text, "rationale": "not recorded", "timestamp": state.get("timestamp")}
        for number, text in enumerate(decisions, 1)
    ]


_STEPS: tuple[Callable[[Json], Json], ...] = (_from_1_to_2, _from_2_to_3)
"""Step number n leads from major version n + 1 to n + 2."""
