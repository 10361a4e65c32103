"""Validity: whether items still fit the files, the branch and the conversation.

The work is bounded, and asks git once at most. A file is read only if its size is unchanged and its time is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from unified_state.archive.archive import Archive
from unified_state.archive.compactions import place_of_entry, was_taken_back
from unified_state.ledger.item_table import ACTIVE, stated_items
from unified_state.lib.record import Record
from unified_state.lib.times import to_milliseconds
from unified_state.model.item import VALID, LedgerItem, Validity
from unified_state.project.file_versions import changed_since
from unified_state.project.find_repository import Repository, read_head

_MOST_FILES = 64


def read_validities(archive: Archive, repository: Repository, items: Sequence[LedgerItem]) -> dict[str, Validity]:
    """Return the validity of the items that have a problem, by UUID. Each file is read at most once."""
    head, branch = read_head(repository)
    later = _later_commits(repository, head, items)
    rewound = dict(archive.rows("SELECT session_id, session FROM rewind JOIN session ON session.id = session"))
    looked: dict[tuple[str, str], bool | None] = {}
    validities = {}
    for item in reversed(items):  # the newest first, since the number of files is limited
        for version in item.file_hashes.items():
            if version not in looked and len(looked) < _MOST_FILES:
                looked[version] = changed_since(repository.worktree, *version)
        newer = archive.row("SELECT alias FROM item WHERE uuid = ?", item.superseded_by) if item.superseded_by else None
        validities[item.uuid] = Validity(
            changed=tuple(path for path, version in item.file_hashes.items() if looked.get((path, version))),
            gone=tuple(path for path, version in item.file_hashes.items() if looked.get((path, version), 0) is None),
            branch=item.branch if item.branch and branch and item.branch != branch else None,
            superseded_by=newer[0] if newer else None,
            behind=item.commit in later,
            rewound=item.session_id in rewound and _was_rewound(archive, rewound[item.session_id], item),
        )
    return {uuid: validity for uuid, validity in validities.items() if validity != VALID}


def _was_rewound(archive: Archive, session: int, item: LedgerItem) -> bool:
    entry = place_of_entry(archive, item.source_uuid) if item.source_uuid else None
    at = entry[1] if entry else to_milliseconds(item.created_at)
    return at is not None and was_taken_back(archive, session, at)


class ValidityReport(Record):
    """The validity of a repository's active items: the number of valid ones, and the others by ref."""

    valid: int
    others: tuple[tuple[str, Validity], ...]


def standing(archive: Archive, repository: Repository) -> ValidityReport:
    """Return the validity of the active items."""
    active = stated_items(archive, [ACTIVE])
    validities = read_validities(archive, repository, active)
    others = tuple((item.alias, validities[item.uuid]) for item in active if item.uuid in validities)
    return ValidityReport(len(active) - len(others), others)


def _later_commits(repository: Repository, head: str | None, items: Sequence[LedgerItem]) -> set[str]:
    """Return the commits of items that come after `head`: it is an ancestor of them. The newest items are looked at
    first, because the number of commits is limited.
    """
    commits = [item.commit for item in reversed(items) if item.commit and item.commit != head]
    if head is None or not commits:
        return set()
    from unified_state.project.git_command import later_commits  # not for items of this commit

    return later_commits(repository.worktree, head, commits)
