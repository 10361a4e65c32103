from __future__ import annotations

from sqlite3 import DatabaseError

import pytest

from tests.builders import NOW, item, uuid_of
from tests.processes import run_at_once
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session, waiting_for_prompt
from unified_state.ledger.item_table import ACTIVE, DISMISSED, PROPOSED, SUPERSEDED, insert_item, update_item
from unified_state.model.item import ATTEMPT, CONSTRAINT, EVIDENCE, QUESTION
from unified_state.restore.restore_table import News, know_news, take_news


@pytest.fixture
def session(archive: Archive) -> int:
    """A session that has begun."""
    return touch_session(archive, "mine", NOW)


def news(archive: Archive, session: int) -> list[News]:
    """What the session is told; whether there is any has to agree."""
    expected = waiting_for_prompt(archive, session)[0]
    with archive.transaction():
        found = take_news(archive, session)
    assert bool(found) == expected
    return found


def test_what_another_session_or_the_user_records_is_news_once(archive: Archive, session: int) -> None:
    insert_item(archive, item(1).replace(session_id="theirs"))
    insert_item(archive, item(2, CONSTRAINT))
    assert news(archive, session) == [
        News(uuid_of(1), was_active=False),
        News(uuid_of(2), was_active=False),
    ]
    assert news(archive, session) == []


def test_what_the_session_records_itself_is_none(archive: Archive, session: int) -> None:
    insert_item(archive, item(1).replace(session_id="mine"))
    assert news(archive, session) == []


def test_what_was_recorded_before_the_session_began_is_none(archive: Archive) -> None:
    insert_item(archive, item(1))
    assert news(archive, touch_session(archive, "mine", NOW)) == []


def test_what_a_session_knows_is_none(archive: Archive, session: int) -> None:
    insert_item(archive, item(1))
    know_news(archive, session)
    assert news(archive, session) == []


@pytest.mark.parametrize("kind", [QUESTION, EVIDENCE, ATTEMPT])
def test_other_kinds_are_none(archive: Archive, session: int, kind: str) -> None:
    insert_item(archive, item(1, kind))
    assert news(archive, session) == []


def test_a_proposal_is_news_when_it_is_accepted(archive: Archive, session: int) -> None:
    proposed = item(1, status=PROPOSED)
    insert_item(archive, proposed)
    update_item(archive, proposed.replace(status=DISMISSED))
    assert news(archive, session) == []
    update_item(archive, proposed.replace(status=ACTIVE))
    assert news(archive, session) == [News(uuid_of(1), was_active=False)]


@pytest.mark.parametrize("status", [SUPERSEDED, DISMISSED])
def test_an_item_that_no_longer_holds_is_news_to_who_knew_it(archive: Archive, session: int, status: str) -> None:
    insert_item(archive, item(1))
    news(archive, session)
    update_item(archive, item(1, status=status))
    assert news(archive, session) == [News(uuid_of(1), was_active=True)]


def test_an_item_that_came_and_went_was_never_known(archive: Archive, session: int) -> None:
    insert_item(archive, item(1))
    update_item(archive, item(1, status=SUPERSEDED))
    assert news(archive, session) == [News(uuid_of(1), was_active=False)]


def test_what_supersedes_an_item_tells_whose_doing_it_was(archive: Archive, session: int) -> None:
    insert_item(archive, item(1))
    news(archive, session)
    insert_item(archive, item(2).replace(session_id="mine"))
    update_item(archive, item(1, status=SUPERSEDED).replace(superseded_by=uuid_of(2)))
    assert news(archive, session) == []


def test_a_change_that_leaves_an_item_in_force_is_none(archive: Archive, session: int) -> None:
    insert_item(archive, item(1))
    news(archive, session)
    update_item(archive, item(1, decision="Use SQLite 3").replace(paged_out_at="2026-01-01T00:00:00.000Z"))
    assert news(archive, session) == []


def test_a_change_that_is_rolled_back_is_none(archive: Archive, session: int) -> None:
    def record_twice() -> None:
        with archive.transaction():
            insert_item(archive, item(1))
            insert_item(archive, item(1))

    with pytest.raises(DatabaseError):
        record_twice()
    assert news(archive, session) == []


def test_a_session_that_is_older_than_the_table_is_told_nothing_before_it_knows(archive: Archive, session: int) -> None:
    archive.run("UPDATE session SET news = NULL")
    insert_item(archive, item(1))
    assert news(archive, session) == []
    know_news(archive, session)
    insert_item(archive, item(2))
    assert len(news(archive, session)) == 1


TAKE = """
# go
from unified_state.archive.archive import Archive
from unified_state.restore.restore_table import take_news
with Archive(sys.argv[1], seconds=60) as archive:
    with archive.transaction():
        print(len(take_news(archive, int(sys.argv[2]))))
"""


def test_of_several_prompts_at_once_one_takes_the_news(archive: Archive, archive_path: str, session: int) -> None:
    for number in range(5):
        insert_item(archive, item(number))
    taken = run_at_once(TAKE, [[archive_path, str(session)]] * 8)
    assert sorted(taken) == ["0\n"] * 7 + ["5\n"]


def test_whether_there_is_any_is_found_by_the_primary_keys(archive: Archive, session: int) -> None:
    for number in range(3):
        insert_item(archive, item(number))
    plan = archive.rows(
        "EXPLAIN QUERY PLAN SELECT 1 FROM session JOIN news ON news.id > session.news "
        "AND news.session_id IS NOT session.session_id WHERE session.id = ? LIMIT 1",
        session,
    )
    assert [row[-1].split(" USING ")[1] for row in plan] == [
        "INTEGER PRIMARY KEY (rowid=?)",
        "INTEGER PRIMARY KEY (rowid>?)",
    ]
