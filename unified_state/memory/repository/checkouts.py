"""Checkouts: the data folder's record of which archive belongs to which folder.

There is one small file for each folder in which an identity was seen. It restores the archive of a repository that lost
its identity, and it distinguishes a copied folder from a moved one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from unified_state.lib.files import PRIVATE, write_note
from unified_state.lib.json_text import dump_ascii_json, parse_json
from unified_state.lib.read_files import read_regular
from unified_state.lib.record import Record, disk_value
from unified_state.memory.repository.find_repository import CHECKOUTS, checkout_path, read_identity

_ENDING = ".json"
_LARGEST = 1 << 16


class Checkout(Record):
    """A folder that uses an archive.

    `place` is the folder of its identity file. `device` and `inode` are those of the repository's own folder, where the
    file system has them. `first_commit` is "" if there was none yet. `former` is the archive that the folder used
    before, or that of the checkout which it is a copy of.
    """

    id: str
    place: str
    worktree: str
    device: int = 0
    inode: int = 0
    first_commit: str = ""
    former: str = ""

    @property
    def is_known_folder(self) -> bool:
        """True if device and inode are recorded, so that the folder is recognized after a rename."""
        return bool(self.inode)


def read_checkout(data_dir: str, place: str) -> Checkout | None:
    """Return the record of an identity folder, or None."""
    found = _read(checkout_path(data_dir, place))
    return found if found is not None and found.place == place else None


def note_checkout(data_dir: str, checkout: Checkout) -> None:
    """Write the record of a checkout. Raises OSError or StorageError if the data folder is read-only."""
    path = checkout_path(data_dir, checkout.place)
    os.makedirs(os.path.dirname(path), PRIVATE | 0o100, exist_ok=True)
    write_note(path, dump_ascii_json(disk_value(checkout)).encode())


def forget_checkouts(data_dir: str, identity: str) -> None:
    """Delete the records of all checkouts of an archive that is deleted."""
    for checkout in all_checkouts(data_dir):
        if checkout.id == identity:
            os.unlink(checkout_path(data_dir, checkout.place))


def all_checkouts(data_dir: str) -> Iterator[Checkout]:
    """Yield every recorded checkout."""
    folder = os.path.join(data_dir, CHECKOUTS)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        found = _read(os.path.join(folder, name)) if name.endswith(_ENDING) else None
        if found is not None:
            yield found


def other_user(data_dir: str, identity: str, place: str) -> Checkout | None:
    """Return another checkout whose identity file names the archive now, or None."""
    for checkout in all_checkouts(data_dir):
        if checkout.id == identity and checkout.place != place:
            found = read_identity(checkout.place)
            if found is not None and found.id == identity:
                return checkout
    return None


def folder_marks(path: str) -> tuple[int, int]:
    """Return device and inode of a folder; zeros if it is gone or the file system has none."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def _read(path: str) -> Checkout | None:
    try:
        fields = parse_json(read_regular(path, _LARGEST).decode())
        known = {name: fields[disk] for name, disk in Checkout.disk_names.items()}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    texts = [known[name] for name in ("id", "place", "worktree", "first_commit", "former")]
    numbers = [known["device"], known["inode"]]
    is_whole = all(isinstance(text, str) for text in texts) and all(isinstance(number, int) for number in numbers)
    return Checkout(**known) if is_whole and known["id"].isalnum() and (known["former"] + "0").isalnum() else None
