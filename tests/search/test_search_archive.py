from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import NOW, SESSION, Entry, answer, call, item, prompt, result, uuid_of
from tests.indexed import steps_having
from unified_state.archive.archive import Archive
from unified_state.archive.full_text import Filters
from unified_state.archive.text_columns import forget_step
from unified_state.ledger.item_table import insert_item
from unified_state.model.item import CONSTRAINT, EVIDENCE, QUESTION
from unified_state.model.step import Hit
from unified_state.search.search_archive import MOST_HITS, note_accesses, search

Keep = Callable[..., None]
DAY = 86_400_000
OTHER = "0ther000-0000-4000-8000-000000000000"


def apart(*texts: str, begin: int = 1) -> list[Entry]:
    """Prompts that are no neighbours of each other, with others between them: S1, S4, S7 …"""
    filling = ("an entirely different matter", "nothing of the kind")
    return [
        prompt(begin + 3 * number + place, said)
        for number, text in enumerate(texts)
        for place, said in enumerate((text, *filling))
    ]


def refs(hits: list[Hit]) -> list[str]:
    return [hit.ref for hit in hits]


def having(hits: list[Hit]) -> list[str]:
    """The refs of the hits that show a match."""
    return [hit.ref for hit in hits if "**" in hit.snippet]


def test_a_hit_says_what_it_is_and_where_it_comes_from(archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "Where is the parser?"))
    assert search(archive, "parser", 10) == [
        Hit(
            ref="S1",
            kind="prompt",
            uuids=(uuid_of(1),),
            session_id=SESSION,
            timestamp="2026-09-21T14:13:21.000Z",
            score=1.4,
            snippet="Where is the **parser**?",
            coverage=1.0,
        )
    ]


def test_the_best_answer_is_first(archive: Archive, keep: Keep) -> None:
    keep(*apart("the parser", "the cache of the parser", "the cache", "the lock"))
    assert refs(search(archive, "cache of the parser", 10))[0] == "S4"


def test_the_answer_beside_the_words_is_found_too(archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "which port does the proxy take?"), answer(2, "8443."))
    assert refs(search(archive, "proxy port", 10)) == ["S1", "S2"]


def test_of_several_blocks_of_an_entry_the_best_stands_for_it(archive: Archive, keep: Keep) -> None:
    keep(answer(1, "the parser", "the parser and its cache"))
    assert refs(search(archive, "parser cache", 10)) == ["S2"]


@pytest.mark.parametrize("query", ["", "?!", "\x00", "🚀", "\ud83d", "  ", "zebra"])
def test_what_nobody_said_is_not_found(archive: Archive, keep: Keep, query: str) -> None:
    keep(prompt(1, "the parser"))
    assert search(archive, query, 10) == []


def test_there_are_at_most_as_many_hits_as_wanted_and_never_beyond_all_bounds(archive: Archive, keep: Keep) -> None:
    keep(*(prompt(number, "the parser") for number in range(MOST_HITS + 50)))
    assert len(search(archive, "parser", 3)) == 3
    assert len(search(archive, "parser", 2**80)) == MOST_HITS


def test_every_limit_has_the_same_first_hits(archive: Archive, keep: Keep) -> None:
    others = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    for session in range(8):
        numbers = range(50 * session, 50 * session + 50)
        texts = (f"the parser {'cache ' * (number % 4)}{' '.join(others[number % 9 :])} {number}" for number in numbers)
        keep(*(prompt(number, text) for number, text in zip(numbers, texts, strict=True)), session=f"session {session}")
    every = search(archive, "the parser cache of 17", MOST_HITS)
    assert len({hit.uuids for hit in every}) == len(every) == 400
    for limit in (1, 5, 10, 60, 61, 150, 300):
        assert search(archive, "the parser cache of 17", limit) == every[:limit]


def test_one_session_does_not_fill_the_first_hits_where_others_match_about_as_well(
    archive: Archive, keep: Keep
) -> None:
    keep(*(prompt(number, "the parser of the cache") for number in range(30)))
    for number in range(4):
        keep(prompt(100 + number, "the parser of the cache, and more"), session=f"other {number}")
    sessions = [hit.session_id for hit in search(archive, "parser cache", 10)]
    assert len(set(sessions)) > 1
    assert sessions[:5] == [SESSION] * 5


def test_a_url_in_an_issue_does_not_outweigh_its_words_and_alone_is_found(archive: Archive, keep: Keep) -> None:
    keep(*apart("git clone https://example.com/team/tool", "the parser loses comments", "clone the parser"))
    url = "https://example.com/team/tool/issues/12"
    assert refs(search(archive, f"The parser loses comments in 2.1, see {url}", 10))[0] == "S4"
    assert refs(search(archive, url, 10))[0] == "S1"


def test_of_a_long_query_the_rare_words_count_wherever_they_stand(archive: Archive, keep: Keep) -> None:
    frames = [f"frame{number}" for number in range(150)]
    keep(*apart(*(f"{frame} is busy" for frame in frames[:50] * 3), "zanzibar_lock is never freed"))
    query = "\n".join([*(f"  at {frame}:12 in module_of{frame}" for frame in frames), "zanzibar_lock"])
    assert refs(search(archive, query, 3))[0] == "S451"


def test_a_session_has_its_own_hits(archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "the parser"))
    keep(prompt(2, "the parser too"), session=OTHER)
    assert [(hit.ref, hit.session_id) for hit in search(archive, "parser", 10, OTHER)] == [("S2", OTHER)]


def test_a_fork_has_what_it_shares_as_its_own(archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "the parser"))
    keep(prompt(1, "the parser", session=OTHER), prompt(2, "the lock", session=OTHER), session=OTHER)
    assert [(hit.ref, hit.session_id) for hit in search(archive, "parser", 10, OTHER)] == [("S1", OTHER)]


def test_a_neighbour_of_another_session_is_no_hit(archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "the parser"))
    keep(prompt(2, "elsewhere"), session=OTHER)
    assert refs(search(archive, "parser", 10)) == ["S1"]


def test_with_a_filter_only_what_has_the_words_is_a_hit(archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "the parser"), prompt(2, "beside it"))
    assert refs(search(archive, "parser", 10, filters=Filters(since=0))) == ["S1"]


def test_a_forgotten_step_is_neither_a_hit_nor_a_neighbour(archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "the parser"), prompt(2, "the parser"), prompt(3, "beside it"))
    forget_step(archive, 2)
    assert refs(search(archive, "parser", 10)) == ["S1"]


def test_a_step_that_the_disk_has_damaged_is_shown_as_such(archive: Archive, keep: Keep) -> None:
    keep(answer(1, call("t1", "Bash", command="clear the parser " * 30)), prompt(2, "the parser"))
    archive.run("UPDATE step SET body = x'00ff' WHERE id = 1")
    found = {hit.ref: hit.snippet for hit in search(archive, "parser", 10)}
    assert found["S2"] == "the **parser**"
    assert "[damaged in the archive]" in found["S1"]


def test_chinese_is_found_and_shown_as_it_was_written(archive: Archive, keep: Keep) -> None:
    keep(*apart("我们选择了数据库迁移的方案。", "今天天气很好"))
    first = search(archive, "数据库迁移", 10)[0]
    assert (first.ref, first.snippet) == ("S1", "我们选择了**数据库迁移**的方案。")
    assert first.coverage == 1.0
    assert refs(search(archive, "库", 10))[0] == "S1"
    assert search(archive, "鲸鱼", 10) == []


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("キャッシュを消しました", "キャッシュ", "**キャッシュ**を消しました"),
        ("캐시를 지웠습니다", "캐시", "**캐시**를 지웠습니다"),
        ("APIキーを変更", "api", "**API**キーを変更"),
        ("voilà le café", "café", "voilà le **café**"),
        ("voila\u0300 le cafe\u0301", "cafe\u0301", "voila\u0300 le **cafe\u0301**"),
        ("Straße nach Łódź", "STRASSE łódź", "Straße nach **Łódź**"),
        ("кэш очищен", "Кэш", "**кэш** очищен"),
    ],
)
def test_other_languages_are_found(archive: Archive, keep: Keep, text: str, query: str, shown: str) -> None:
    keep(prompt(1, text))
    assert [hit.snippet for hit in search(archive, query, 10)] == [shown]


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("when to plant tomatoes", "planting tomato", "when to **plant** **tomatoes**"),
        ("another possibility", "possible", "another **possibility**"),
        ("resized pictures", "resizing picture", "**resized** **pictures**"),
        ("le cafe noir", "café", "le **cafe** noir"),
    ],
)
def test_what_matches_in_another_form_is_marked_too(
    archive: Archive, keep: Keep, text: str, query: str, shown: str
) -> None:
    keep(prompt(1, text))
    assert [hit.snippet for hit in search(archive, query, 10)] == [shown]


def test_what_matches_deep_in_a_long_text_is_shown_in_whatever_form_it_stands_there(
    archive: Archive, keep: Keep
) -> None:
    keep(prompt(1, f"{'nothing at all ' * 2000}we planted it {'nothing at all ' * 2000}"))
    (hit,) = search(archive, "planting", 10)
    assert "we **planted** it" in hit.snippet
    assert hit.coverage == 1.0


def test_of_a_long_text_the_passage_with_most_of_the_words_is_shown(archive: Archive, keep: Keep) -> None:
    filling = "nothing at all " * 2_000
    keep(prompt(1, f"zebra {filling} the zebra of the lion and tiger {filling} zebra"))
    (hit,) = search(archive, "lion tiger zebra", 10)
    assert "**zebra** of the **lion** and **tiger**" in hit.snippet


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("call getUserProfile now", "user profile", "call **getUserProfile** now"),
        ("the authService fails", "auth service", "the **authService** fails"),
        ("raises HTTPServerError", "servererror", "raises **HTTPServerError**"),
        ("error TS2345 again", "2345", "error **TS2345** again"),
        ("at 0xDEADBEEF", "deadbeef", "at **0xDEADBEEF**"),
        ("see get_user_profile", "getUserProfile", "see get_user_profile"),
        ("commit a24b142f9 broke it", "a24b142", "commit **a24b142f9** broke it"),
        ("commit a24b142 broke it", "a24b142f9", "commit **a24b142** broke it"),
        ("they bought bread", "buy", "they **bought** bread"),
    ],
)
def test_names_of_code_commits_and_numbers_are_found_by_a_part(
    archive: Archive, keep: Keep, text: str, query: str, shown: str
) -> None:
    keep(*apart(text))
    assert search(archive, query, 10)[0].snippet == shown


FILE = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(("def parse():", "    return 4711", ""), 218))


def test_the_numbers_before_the_lines_of_a_file_are_not_found_and_those_in_it_are(archive: Archive, keep: Keep) -> None:
    keep(answer(1, call("t1", "Read", file_path="a.py")), result(2, "t1", FILE), prompt(3, "line 219 is wrong"))
    assert refs(search(archive, "219", 10))[0] == "S3"
    assert steps_having(archive, "219") == [3]
    assert refs(search(archive, "4711", 10))[0] == "S2"


def test_a_tool_call_is_found_by_its_name_and_its_input(archive: Archive, keep: Keep) -> None:
    keep(answer(1, call("t1", "WebFetch", url="https://example.com/parser", options={"depth": ["shallow"]})))
    for query in ("webfetch", "example.com/parser", "shallow"):
        assert refs(search(archive, query, 10)) == ["S1"]


def test_an_agent_s_own_searches_stand_below_what_they_found(archive: Archive, keep: Keep) -> None:
    keep(
        *apart("which current does the flux capacitor take? That of the chamber, as we found out yesterday night."),
        answer(10, call("t1", "Bash", command="unified-state search flux capacitor current")),
        result(11, "t1", "S1  2026-09-21T14:13  prompt  flux capacitor current"),
        answer(12, call("t2", "Bash", command="cd src && unified-state recall S1 | grep 'flux capacitor current'")),
        result(13, "t2", "which current does the flux capacitor take?"),
    )
    assert having(search(archive, "flux capacitor current", 10))[0] == "S1"


def test_what_was_said_at_the_time_that_the_query_names_is_raised(archive: Archive, keep: Keep) -> None:
    keep(
        prompt(1, "we fixed the parser", at=NOW - 3 * DAY),
        prompt(2, "elsewhere", at=NOW - 3 * DAY),
        prompt(3, "elsewhere"),
        prompt(4, "elsewhere"),
        prompt(5, "we fixed the parser", at=NOW - DAY),
    )
    assert refs(search(archive, "parser yesterday", 10, now=NOW))[0] == "S5"
    assert refs(search(archive, "parser 3 days ago", 10, now=NOW))[0] == "S1"


@pytest.fixture
def asked(archive: Archive, keep: Keep) -> Archive:
    """Five steps that are equally good, S1 to S13, and one that has only one word of two, S16."""
    keep(*apart(*["the parser of the cache"] * 5, "the parser"))
    return archive


def test_what_was_asked_for_rises(asked: Archive) -> None:
    assert having(search(asked, "parser cache", 20, now=NOW)) == ["S1", "S4", "S7", "S10", "S13", "S16"]
    note_accesses(asked, [10], 1.0, NOW)
    assert having(search(asked, "parser cache", 20, now=NOW)) == ["S1", "S10", "S4", "S7", "S13", "S16"]


@pytest.mark.parametrize("times", [1, 50])
def test_however_often_asked_for_a_worse_step_stays_below_a_better_one(asked: Archive, times: int) -> None:
    for _ in range(times):
        note_accesses(asked, [16], 1.0, NOW)
    assert having(search(asked, "parser cache", 20, now=NOW))[-1] == "S16"


def test_however_often_asked_for_a_step_without_the_words_is_raised_by_nothing(asked: Archive) -> None:
    before = search(asked, "parser cache", 50, now=NOW)
    for _ in range(100):
        note_accesses(asked, [2, 3, 17, 18], 1.0, NOW)
    assert search(asked, "parser cache", 50, now=NOW) == before


def test_items_stand_above_steps_and_tell_their_state(archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "When do we use SQLite in src/db.py? SQLite: yesterday", at=NOW - DAY))
    insert_item(archive, item(1, status="superseded", decision="Use SQLite", rationale="see src/db.py of yesterday"))
    insert_item(archive, item(2, QUESTION, status="resolved", question="Which file of SQLite?"))
    note_accesses(archive, [1], 100.0, NOW)
    hits = search(archive, "When SQLite src/db.py yesterday", 10, now=NOW)
    assert [(hit.ref, hit.status) for hit in hits][:2] == [("D1", "superseded"), ("S1", None)]
    assert [hit.status for hit in search(archive, "which SQLite file", 10) if hit.ref == "Q2"] == ["resolved"]


def test_of_items_that_answer_as_well_those_that_still_hold_come_first(archive: Archive) -> None:
    for number, status in enumerate(("superseded", "dismissed", "active", "resolved", "active"), 1):
        insert_item(archive, item(number, status=status))
    assert refs(search(archive, "sqlite", 10)) == ["D3", "D5", "D1", "D2", "D4"]


def test_an_item_is_found_by_whole_words_in_any_form(archive: Archive) -> None:
    insert_item(archive, item(1, decision="Reports go out in batches", rationale="数据库很慢"))
    assert [hit.snippet for hit in search(archive, "report batch", 10)] == [
        "**Reports** go out in **batches** 数据库很慢"
    ]
    assert refs(search(archive, "数据库", 10)) == ["D1"]
    assert search(archive, "port", 10) == []


def test_an_item_needs_half_of_the_words(archive: Archive) -> None:
    insert_item(archive, item(1, decision="Use SQLite", rationale="r"))
    assert [hit.coverage for hit in search(archive, "sqlite parser", 10)] == [0.5]
    assert search(archive, "sqlite parser cache", 10) == []


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (Filters(), ["D1", "C1", "E1"]),
        (Filters(kind="constraint"), ["C1"]),
        (Filters(kind="prompt"), []),
        (Filters(tool="Bash"), []),
        (Filters(since=NOW), ["D1", "C1", "E1"]),
        (Filters(since=NOW + 1), []),
        (Filters(until=NOW), []),
        (Filters(file="db.py"), ["C1", "E1"]),
        (Filters(file="b.py"), []),
    ],
)
def test_filters_hold_for_items_too(archive: Archive, filters: Filters, found: list[str]) -> None:
    insert_item(archive, item(1, decision="the parser"))
    insert_item(archive, item(1, CONSTRAINT, constraint="the parser of src/db.py stays").replace(uuid=uuid_of(2)))
    insert_item(archive, item(1, EVIDENCE, content="parser").replace(uuid=uuid_of(3), files=("src/db.py",)))
    assert sorted(refs(search(archive, "parser", 10, filters=filters))) == sorted(found)


any_text = st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF))


def test_a_session_has_its_own_items(archive: Archive, keep: Keep) -> None:
    keep(prompt(1, "x"))
    insert_item(archive, item(1, decision="the parser").replace(session_id=SESSION))
    insert_item(archive, item(2, decision="the parser").replace(session_id=OTHER))
    assert refs(search(archive, "parser", 10, SESSION)) == ["D1"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_text | st.lists(st.sampled_from(['"', "*", "^", "NEAR(", "AND", "NOT", ":", "parser", "語"])).map(" ".join))
def test_any_text_is_a_query(archive: Archive, query: str) -> None:
    if archive.row("SELECT 1 FROM item") is None:
        insert_item(archive, item(1, decision="the parser 語"))
    for hit in search(archive, query, 10, now=NOW):
        assert hit.ref == "D1"


@pytest.mark.parametrize(
    "query",
    [
        "a.py " * 20_000,
        " ".join(f"{number}.py" for number in range(15_000)),
        "x" * 100_000,
        "語" * 30_000,
        '"' * 100_000,
        "parser " * 15_000,
    ],
)
def test_a_query_of_100_kilobytes_comes_to_an_end(archive: Archive, keep: Keep, alarm: None, query: str) -> None:
    keep(*(prompt(number, "the parser of 1.py " * 500) for number in range(30)))
    search(archive, query, 10, now=NOW)
