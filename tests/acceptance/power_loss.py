"""What a process changed on disk, one change after the other, and the disks that a loss of power could leave.

`disk_log.c` records the changes. The model is that of file systems which keep the order of names and sizes (ext4, xfs):
of those a loss keeps the changes up to some point, at least to the last one that was waited for. What was written over
older content and not waited for is kept, lost or torn, each write by itself.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_SECTOR = 512
_HEADER = struct.Struct("6Q")
_NAMES = frozenset("crlux")  # created, renamed, linked, removed


class Change(NamedTuple):
    """A change of a file or of a name: `kind` as `disk_log.c` has it, `file` a number that no other file has."""

    kind: str
    path: str
    other: str
    file: int
    offset: int
    data: bytes
    grows: bool = False


class Disk:
    """The files below a folder, as they lie on a disk: names, and the content behind them."""

    def __init__(self, folder: Path) -> None:
        paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
        self.names = {str(path): path.stat().st_ino for path in paths}
        self.files = {path.stat().st_ino: bytearray(path.read_bytes()) for path in paths}

    def copy(self) -> Disk:
        """The same once more."""
        disk = Disk.__new__(Disk)
        disk.names, disk.files = dict(self.names), {file: bytearray(data) for file, data in self.files.items()}
        return disk

    def apply(self, change: Change) -> None:
        """Change it."""
        content = self.files.setdefault(change.file, bytearray())
        match change.kind:
            case "c":
                self.names[change.path] = change.file
            case "w":
                content.extend(bytes(max(0, change.offset - len(content))))
                content[change.offset : change.offset + len(change.data)] = change.data
            case "t":
                content.extend(bytes(max(0, change.offset - len(content))))
                del content[change.offset :]
            case "r" if change.path in self.names:
                self.names[change.other] = self.names.pop(change.path)
            case "l" if change.path in self.names:
                self.names[change.other] = self.names[change.path]
            case "u":
                self.names.pop(change.path, None)

    def write(self, folder: Path) -> None:
        """Let the folder hold these files, and no others."""
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and str(path) not in self.names:
                path.unlink()
        for name, file in self.names.items():
            path = Path(name)
            if not path.exists() or path.read_bytes() != self.files[file]:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as target:
                    target.write(self.files[file])


def read_changes(log: Path, before: Disk) -> list[Change]:
    """The changes in a log, that began on this disk."""
    raw, at, numbers = log.read_bytes() if log.exists() else b"", 0, {file: file for file in before.files}
    disk, changes = before.copy(), list[Change]()
    while at < len(raw):
        kind, inode, offset, length, path, other = _HEADER.unpack_from(raw, at)
        at += _HEADER.size
        names = raw[at : at + path].decode(), raw[at + path : at + path + other].decode()
        at += path + other
        data = raw[at : at + length]
        at += length
        if chr(kind) == "c" or inode not in numbers:
            numbers[inode] = -len(changes) - 1  # the disk gives the number of a removed file again
        change = Change(chr(kind), *names, numbers[inode], offset, data)
        size = len(disk.files.get(change.file, b""))
        disk.apply(change)
        changes.append(change._replace(grows=len(disk.files.get(change.file, b"")) > size))
    return changes


def after_loss(before: Disk, changes: list[Change], chance: random.Random) -> Disk:
    """The disk after these changes and a loss of power."""
    ordered = chance.randint(_waited_for(changes), len(changes))
    last_sync = {change.file: number for number, change in enumerate(changes) if change.kind in "sd"}
    disk = before.copy()
    for number, change in enumerate(changes):
        is_kept = number < ordered or (change.kind in "wt" and number < last_sync.get(change.file, -1))
        content = disk.files.get(change.file, b"")
        if change.kind != "w" or change.grows or change.offset + len(change.data) > len(content):
            if is_kept:
                disk.apply(change)
        elif number < last_sync.get(change.file, -1):
            disk.apply(change)
        else:
            _perhaps(disk, change, chance)
    return disk


def _waited_for(changes: list[Change]) -> int:
    """How many of the changes of names and sizes are on disk for certain."""
    waited, resized = 0, set[int]()
    for number, change in enumerate(changes):
        if change.kind == "s" or (change.kind == "d" and change.file in resized):
            waited = number
            resized.clear()
        elif change.kind in "ct" or change.grows:
            resized.add(change.file)
    return waited


def _perhaps(disk: Disk, change: Change, chance: random.Random) -> None:
    """Write all sectors of a change, some of them, or none."""
    keep: Callable[[int], bool] = chance.choice(
        (lambda _at: True, lambda _at: False, lambda _at: chance.random() < 0.5)
    )
    for at in range(0, len(change.data), _SECTOR):
        if keep(at):
            disk.apply(change._replace(offset=change.offset + at, data=change.data[at : at + _SECTOR]))


class Struck:
    """A folder in which a command is run again and again from the same beginning, and struck each time elsewhere."""

    def __init__(self, folder: Path, library: Path) -> None:
        self.folder, self._library = folder, library
        self._copy = library.parent / "before"
        shutil.copytree(folder, self._copy, symlinks=True)
        self.restore()
        self.before = Disk(folder)
        self.changes: list[Change] = []

    def restore(self) -> None:
        """Let the folder be as at the beginning."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._copy, self.folder, symlinks=True)

    def prefix(self, at: int = 0) -> list[str]:
        """What a command begins with that is to be killed before a change, or recorded."""
        log = self._library.with_name("changes")
        strike = f"STRIKE_AT={at}" if at else f"STRIKE_LOG={log}"
        return ["env", f"LD_PRELOAD={self._library}", f"STRIKE_ROOT={self.folder}", strike]

    def record(self) -> None:
        """Read what the recorded command changed."""
        self.changes = read_changes(self._library.with_name("changes"), self.before)

    def lose_power(self, at: int, chance: random.Random) -> None:
        """Let the folder be as a loss of power after so many changes could leave it."""
        self.restore()
        after_loss(self.before, self.changes[:at], chance).write(self.folder)
