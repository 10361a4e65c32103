from __future__ import annotations

import pytest

from tests.builders import NOW, SESSION, item
from unified_state.archive.archive import Archive
from unified_state.archive.compactions import begin_compaction, keep_summary
from unified_state.archive.sessions import touch_session
from unified_state.capture.survival_table import find_survival, keep_survival
from unified_state.errors import NotFoundError, UsageError
from unified_state.model.known import KEPT, MISSING, ItemVerdict, RestoreInput, Survival
from unified_state.restore.note_survival import note_restored, survival_of, survivals
from unified_state.restore.rules.brief_lines import survival_line

SUMMARY = "D1 is fine.\nThe tests pass.\n"
SURVIVAL = Survival((ItemVerdict("D1", KEPT, 0, 12), ItemVerdict("D2", MISSING), ItemVerdict("D3", MISSING)))
BRIEF = "[DECISIONS]\n  D2 (inferred): Use SQLite.\n  D3 (inferred): Use pytest."
KNOWN = RestoreInput(reason="compact", now=NOW, compaction=1, items=(item(1), item(2), item(3)), survival=SURVIVAL)
LINE = "The summary lost 2 recorded items; all 2 came back. `unified-state show K1`"


@pytest.fixture
def archive(archive: Archive) -> Archive:
    """An archive with K1, which was judged."""
    compaction = begin_compaction(archive, touch_session(archive, SESSION, NOW), NOW, "auto")
    keep_summary(archive, compaction, SUMMARY)
    keep_survival(archive, compaction.id, SURVIVAL)
    return archive


def test_the_user_is_told_once(archive: Archive) -> None:
    assert [note_restored(archive, KNOWN, BRIEF) for _ in range(2)] == [LINE, ""]


@pytest.mark.parametrize(
    ("verdicts", "restored", "line"),
    [
        ([], [], ""),
        ([KEPT], [], "The summary kept the recorded item."),
        ([KEPT, KEPT], [], "The summary kept all 2 recorded items."),
        ([MISSING], ["D0"], "The summary lost 1 recorded item; it came back. `unified-state show K3`"),
        ([MISSING, KEPT], [], "The summary lost 1 recorded item; it did not come back. `unified-state show K3`"),
        ([MISSING] * 3, ["D1"], "The summary lost 3 recorded items; 1 of them came back. `unified-state show K3`"),
        ([MISSING] * 2, ["C1"], "The summary lost 2 recorded items; none came back. `unified-state show K3`"),
    ],
)
def test_the_user_is_told_in_one_line_what_was_lost_and_came_back(
    verdicts: list[str], restored: list[str], line: str
) -> None:
    survival = Survival(tuple(ItemVerdict(f"D{number}", verdict) for number, verdict in enumerate(verdicts)))
    assert survival_line(survival, restored, 3) == line


def test_what_was_told_in_full_is_kept_with_its_size(archive: Archive) -> None:
    note_restored(archive, KNOWN, BRIEF)
    found = find_survival(archive, 1)
    assert found is not None
    assert (found.restored, found.tokens > 0) == (("D2", "D3"), True)


def test_where_no_summary_was_seen_nothing_is_told(archive: Archive) -> None:
    assert note_restored(archive, KNOWN.replace(survival=None), BRIEF) == ""


def test_each_item_is_reported_with_what_the_summary_says(archive: Archive) -> None:
    note_restored(archive, KNOWN, BRIEF)
    found = survival_of(archive, "K1")
    assert (found["ref"], found["total"], found["line"]) == ("K1", 3, LINE)
    assert found["items"][:2] == [
        {"ref": "D1", "verdict": KEPT, "restored": False, "summary_says": "D1 is fine."},
        {"ref": "D2", "verdict": MISSING, "restored": True, "summary_says": None},
    ]


def test_all_compactions_are_listed(archive: Archive) -> None:
    assert [(found["ref"], found["kept"], found["missing"]) for found in survivals(archive)] == [
        ("K1", ["D1"], ["D2", "D3"])
    ]


def test_a_later_summary_of_the_same_compaction_is_judged_anew(archive: Archive) -> None:
    note_restored(archive, KNOWN, BRIEF)
    keep_survival(archive, 1, Survival((ItemVerdict("D1", MISSING),)))
    found = find_survival(archive, 1)
    assert found is not None
    assert (found.survival.refs(MISSING), found.restored) == (("D1",), ())


def test_what_the_disk_has_damaged_is_nothing_known(archive: Archive) -> None:
    archive.run("UPDATE survival SET judged = '[[]'")
    found = find_survival(archive, 1)
    assert found is not None
    assert found.survival == Survival()


@pytest.mark.parametrize(("ref", "error"), [("D1", UsageError), ("K9", NotFoundError)])
def test_only_a_compaction_that_was_judged_has_a_survival(archive: Archive, ref: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        survival_of(archive, ref)
