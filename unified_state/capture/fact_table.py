"""What is remembered of facts between steps: what was captured once, which calls fail, what the state file shows.

Commands and files stand here as hashes only, so that nothing has to be forgotten or masked.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive


def was_captured(archive: Archive, key: str) -> bool:
    """Whether this was captured before, even if it was dismissed or forgotten since."""
    return (
        archive.row(
            "SELECT 1 FROM item WHERE capture_key = ?1 UNION SELECT 1 FROM uncaptured WHERE capture_key = ?1", key
        )
        is not None
    )


def add_failing(archive: Archive, root: str, tool: str, call: str, item: str, at: int) -> None:
    """A call failed, which an item tells of."""
    archive.run("INSERT OR IGNORE INTO failing VALUES (?, ?, ?, ?, ?)", root, tool, call, item, at)


def fails_any(archive: Archive, root: str, tool: str) -> bool:
    """Whether any call of a tool failed in a worktree and did not succeed since."""
    return archive.row("SELECT 1 FROM failing WHERE root = ? AND tool = ? LIMIT 1", root, tool) is not None


def take_failing(archive: Archive, root: str, tool: str, call: str, before: int) -> list[str]:
    """The call succeeded: the UUIDs of the items that told of its earlier failures, which are failing no more."""
    rows = archive.rows(
        "SELECT item FROM failing WHERE root = ? AND tool = ? AND call = ? AND at < ?", root, tool, call, before
    )
    for (item,) in rows:
        archive.run("DELETE FROM failing WHERE item = ?", item)
    return [item for (item,) in rows]


def keep_newest_in_file(archive: Archive, rule: str, limit: int, at: str) -> None:
    """Of what a rule captured, only the newest stay in the state file."""
    archive.run(
        "UPDATE item SET paged_out_at = ?1 WHERE rule = ?2 AND paged_out_at IS NULL AND id NOT IN "
        "(SELECT id FROM item WHERE rule = ?2 AND paged_out_at IS NULL ORDER BY id DESC LIMIT ?3)",
        at,
        rule,
        limit,
    )
