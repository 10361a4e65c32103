"""What is indexed, judged by a real full-text index with the archive's tokenizer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.words.index_text import index_text, strings_of
from unified_state.lib.words.query import fts_query, query_words

CHINESE, JAPANESE, KOREAN = (
    "我们决定使用数据库保存会话状态",
    "データベースを使うことに決めた",
    "데이터베이스를 사용하기로 했다",
)
RARE = "\U00020bb7野家"  # a character beyond U+FFFF
cjk = st.text(st.sampled_from(CHINESE + JAPANESE + KOREAN.replace(" ", "") + RARE), min_size=2, max_size=30)


@pytest.fixture
def index() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE step_text USING fts5 (text, content='', tokenize='porter unicode61')")
    yield connection
    connection.close()


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


@pytest.mark.parametrize("character", "我数态")
def test_a_single_character_is_found_wherever_it_stands(index: sqlite3.Connection, character: str) -> None:
    assert finds(index, CHINESE, character)


def test_the_words_beside_a_run_are_found(index: sqlite3.Connection) -> None:
    assert finds(index, f"SQLite{CHINESE}archive", "sqlite")
    assert finds(index, f"SQLite{CHINESE}archive", "archive")


def test_what_is_not_in_the_text_is_not_found(index: sqlite3.Connection) -> None:
    assert not finds(index, CHINESE, "猫犬")


@pytest.mark.parametrize("text", ["plain words", "naïve café", "Привет, мир", "½ €"])
def test_a_text_without_cjk_is_indexed_as_it_stands(text: str) -> None:
    assert index_text(text) is text


def test_a_run_becomes_its_pairs_and_its_last_character() -> None:
    assert index_text("a日本語b") == "a 日本 本語 語 b"


def test_a_run_at_the_end_is_not_forgotten() -> None:
    assert index_text("a 日本").split() == ["a", "日本", "本"]


@given(st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)))
def test_every_text_can_be_indexed(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE step_text USING fts5 (text, content='', tokenize='porter unicode61')")
    connection.execute("INSERT INTO step_text (rowid, text) VALUES (1, ?)", (index_text(text),))
    connection.close()


def test_the_texts_of_a_json_value_are_all_found_without_its_escapes() -> None:
    value = {"command": "echo 'ü'", "edits": [{"old": "a\nb", "count": 3}, None, True, ""], "rate": 0.5}
    assert strings_of(value).split("\n") == ["echo 'ü'", "a", "b", "3", "0.5"]
