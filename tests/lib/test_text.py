from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.query import fts_query, query_words
from unified_state.lib.text import (
    CUT_MARK,
    cut,
    each_word_once,
    escape_surrogates,
    estimate_tokens,
    find_quote,
    index_text,
    one_line,
    pack,
    parts_of_names,
    strings_of,
    unpack,
    utf16_units,
    well_formed,
    without_line_numbers,
)
from unified_state.lib.tokens import count_tokens

CLUSTERS = (
    "a",
    " ",
    "é",
    "e\u0301",
    "語",
    "\U0001f600",
    "\U0001f44d\U0001f3fd",  # a skin tone
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",  # a family
    "\U0001f3f3\ufe0f\u200d\U0001f308",  # the rainbow flag
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # the flag of Scotland
    "1\ufe0f\u20e3",  # a keycap
    "\u2764\ufe0f",
    "\U0001f1e9\U0001f1ea",  # the flag of Germany
)
clusters = st.lists(st.sampled_from(CLUSTERS), max_size=60)


@given(clusters, st.integers(1, 80))
def test_a_cut_text_ends_where_a_character_as_people_see_it_ends(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    shown = cut(text, limit)
    if shown == text:
        return
    kept = shown.removesuffix(CUT_MARK)
    ends = ["".join(parts[:count]) for count in range(len(parts) + 1)]
    assert kept in ends


@given(st.text(), st.integers(1, 80))
def test_a_cut_text_respects_the_limit_and_is_a_beginning(text: str, limit: int) -> None:
    shown = cut(text, limit)
    assert len(shown) <= limit
    assert text.startswith(shown.removesuffix(CUT_MARK) if len(text) > limit else shown)


@given(st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)))
def test_units_are_counted_as_utf_16_has_them(text: str) -> None:
    assert utf16_units(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  a\t b\r\n c  ", "a b c"),
        ("a\u2028b\u2029c\x85d\x0be", "a b c d e"),
        ("bell\x07, escape\x1b[31m, delete\x7f, c1\x9b", "bell, escape[31m, delete, c1"),
        ("a \x00 b", "a b"),
        ("\x1b\n a", "a"),
        ("", ""),
    ],
)
def test_one_line_has_neither_line_ends_nor_control_characters(text: str, line: str) -> None:
    assert one_line(text) == line


@given(st.text())
def test_one_line_is_one_line_for_whoever_splits_it(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


SURROGATES = st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)
texts = st.text(st.characters() | SURROGATES)
long_texts = st.builds(lambda text, times: text * times, texts, st.integers(1, 200))


@given(texts | long_texts)
def test_sqlite_takes_every_packed_text(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    (stored,) = connection.execute("SELECT ?", (pack(text),)).fetchone()
    connection.close()
    assert unpack(stored) == text


@given(texts)
def test_packing_never_makes_a_well_formed_text_longer(text: str) -> None:
    packed = pack(well_formed(text))
    size = len(packed if isinstance(packed, bytes) else packed.encode())
    assert size <= len(well_formed(text).encode())


@given(texts)
def test_json_is_the_same_json_after_its_lone_surrogates_were_escaped(text: str) -> None:
    escaped = escape_surrogates(dump_json(f"\\{text}"))
    escaped.encode()
    assert well_formed(parse_json(escaped)) == well_formed(f"\\{text}")


CHINESE, JAPANESE, KOREAN = (
    "我们决定使用数据库保存会话状态",
    "データベースを使うことに決めた",
    "데이터베이스를 사용하기로 했다",
)
RARE = "\U00020bb7野家"  # a character beyond U+FFFF
cjk = st.text(st.sampled_from(CHINESE + JAPANESE + KOREAN.replace(" ", "") + RARE), min_size=2, max_size=30)


def finds(connection: sqlite3.Connection, text: str, query: str) -> bool:
    connection.execute("INSERT INTO step_text (step_text) VALUES ('delete-all')")
    connection.execute("INSERT INTO step_text (rowid, text) VALUES (1, ?)", (index_text(text),))
    found = connection.execute("SELECT rowid FROM step_text WHERE step_text MATCH ?", (fts_query(query_words(query)),))
    return found.fetchone() is not None


@given(text=cjk, data=st.data())
def test_any_part_of_a_run_of_chinese_japanese_or_korean_is_found(text: str, data: st.DataObject) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE step_text USING fts5 (text, content='', tokenize='porter unicode61')")
    begin = data.draw(st.integers(0, len(text) - 2))
    end = data.draw(st.integers(begin + 2, len(text)))
    assert finds(connection, f"before {text} after", text[begin:end])
    connection.close()


def test_the_texts_of_a_json_value_are_all_found_without_its_escapes() -> None:
    value = {"command": "echo 'ü'", "edits": [{"old": "a\nb", "count": 3}, None, True, ""], "rate": 0.5}
    assert strings_of(value).split("\n") == ["echo 'ü'", "a", "b", "3", "0.5"]


@pytest.mark.parametrize(
    ("text", "said", "quote"),
    [
        ('unified-state decision add "Use SQLite"', "Use SQLite", "Use SQLite"),
        ("add 'it'\\''s the user'\\''s'", "it's the user's", "it'\\''s the user'\\''s"),
        ("add Use\\ SQLite", "Use SQLite", "Use\\ SQLite"),
        ("Use\n  SQLite\n  here", "Use SQLite here", "Use\n  SQLite\n  here"),
        ("say “Use SQLite”", "say 'Use SQLite'", "say “Use SQLite"),
        ("Use PostgreSQL", "Use SQLite", None),
        ("use sqlite", "Use SQLite", None),
        ("anything", "  ", None),
        ("anything", "'\"", None),
    ],
)
def test_the_same_words_are_found_however_a_shell_wants_them_quoted(text: str, said: str, quote: str | None) -> None:
    assert find_quote(text, said) == quote


PROSE = "Whoever reads this later should find the path of the file, the command that failed, and what was decided. "
CODE = 'def main(arguments: list[str]) -> int:\n    """Run it."""\n    return run(arguments[0])\n'
JSON = '{"id":"D7","decision":"Use SQLite","rationale":"one file, no server","timestamp":"2026-11-21T23:07:27.377Z"}'
EMOJI = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f680 "
LONG_CHINESE = "我们决定使用数据库来保存会话的状态因为它只有一个文件。"


def test_the_guess_is_rather_too_many_than_too_few() -> None:
    texts = [PROSE * 5, CODE * 5, LONG_CHINESE * 5]
    guesses = [estimate_tokens(text) for text in texts]
    assert all(guess >= count for guess, count in zip(guesses, count_tokens(texts), strict=True))


def test_the_guess_is_of_the_right_size() -> None:
    texts = [PROSE * 5, CODE * 5, JSON * 5, LONG_CHINESE * 5, EMOJI * 20]
    guesses = [estimate_tokens(text) for text in texts]
    assert all(count / 2 < guess < count * 2 for guess, count in zip(guesses, count_tokens(texts), strict=True))


@given(st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)), st.text())
def test_a_longer_text_is_never_guessed_to_be_smaller(text: str, more: str) -> None:
    assert estimate_tokens(text + more) >= estimate_tokens(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("     1→import os\n     2→\n     3→x = 1", "     1→import os\n\nx = 1"),
        ("1\talpha\n2\tline2\n3\t\n\n<system-reminder>", "1\talpha\nline2\n\n\n<system-reminder>"),
        ("   9→a\n  10→b\n", "   9→a\nb\n"),
        ("8080\tproxy\n5432\tdatabase", "8080\tproxy\n5432\tdatabase"),  # a table's own numbers
        ("100001\tAda\n100002\tBob", "100001\tAda\n100002\tBob"),
        ("1→a\n2 b\n3→c", "1→a\n2 b\n3→c"),
        ("1→a\n²→b\n→c\n\t", "1→a\n²→b\n→c\n\t"),
        ("no numbers", "no numbers"),
    ],
)
def test_of_the_numbers_before_lines_those_go_that_continue_a_count(text: str, left: str) -> None:
    assert without_line_numbers(text) == left


@given(st.text(st.sampled_from("12 9\t→\na²٣")))
def test_without_line_numbers_each_line_is_the_end_of_the_one_before(text: str) -> None:
    lines, left = text.split("\n"), without_line_numbers(text).split("\n")
    assert all(line.endswith(rest) for line, rest in zip(lines, left, strict=True))


def terms(text: str) -> set[str]:
    """What the index has of a text."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE one USING fts5 (text, content='', detail=none, tokenize='porter unicode61')"
    )
    connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (one, 'row')")
    connection.execute("INSERT INTO one (rowid, text) VALUES (1, ?)", (text,))
    found = {term for (term,) in connection.execute("SELECT term FROM terms")}
    connection.close()
    return found


@given(
    st.text(
        st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF) | st.sampled_from("aA\0\tİ\u0131ßẞé\u0301-_.😀½数据")
    )
    | st.text()
)
def test_of_each_word_once_the_index_has_the_same_terms_as_of_the_whole_text(text: str) -> None:
    indexed = index_text(text)
    assert terms(each_word_once(indexed)) == terms(indexed)


@given(st.text(st.sampled_from("abAB01_ -\n日本한éßİx") | st.characters()))
def test_the_words_of_a_text_and_the_parts_of_its_names_are_those_of_both_together(text: str) -> None:
    both = f"{index_text(text)}\n{parts_of_names(text)}"
    assert each_word_once(index_text(text), with_parts=True) == each_word_once(both)
