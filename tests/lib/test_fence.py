# ruff: noqa: RUF001  # texts of many scripts
from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.fence import TAG, fenced, nonces_in, visible, visible_json

LEGITIMATE = {
    "Chinese": "端口是 9090，请不要改动。",
    "variants of ideographs": "葛\U000e0100飾区、葛\U000e0101城市、神\ufe00社",
    "Japanese": "データベースは「SQLite」です。",
    "Korean": "아카이브는 SQLite를 사용합니다",
    "Arabic": "الأرشيف يستخدم SQLite، دائمًا.",
    "Hebrew": "הארכיון משתמש ב-SQLite, תמיד.",
    "Persian with a non-joiner": "می\u200cخواهم کتاب\u200cها را ببینم",
    "Hindi with joiners": "क्\u200dष और क्\u200cष",
    "Sinhala with a joiner": "ශ්\u200dරී ලංකා",
    "Khmer with spaces of no width": "ភាសា\u200bខ្មែរ",
    "Mongolian with a selector": "\u182d\u180b",
    "accents": "é e\u0301 ñ Å ﬁ ½",
    "a family": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "a woman at a computer": "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "a heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "a rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "a pirate flag": "\U0001f3f4\u200d\u2620\ufe0f",
    "the flag of England": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f!",
    "keycaps and signs": "1\ufe0f\u20e3 #\ufe0f\u20e3 \xa9\ufe0f \u2122\ufe0f \u203c\ufe0f \u3297\ufe0f \u2714\ufe0e",
    "the icons of a terminal font": "\ue0b0 \uf126 main",
    "lines": "one\n\ttwo\r\nthree\r\n",
    "code": "if a < b and c > d: x <<= 1; vector<int> v; x <| f; a <- b; List<Invoker> <|> <>",
    "markup": "<div class='a'> </p> <!-- note --> <br/> <command> <command args> <task> <tool> <T> <in voke>",
    "a mark of ours": "a\u2039b <U+202E>",
}


@pytest.mark.parametrize("text", LEGITIMATE.values(), ids=LEGITIMATE)
def test_legitimate_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert visible_json(json.dumps(text, ensure_ascii=False)) == json.dumps(text, ensure_ascii=False)


HIDDEN = {
    "an override": ("\u202e", "<U+202E>"),
    "an isolate": ("\u2066", "<U+2066>"),
    "a mark of direction": ("\u200f", "<U+200F>"),
    "a space of no width": ("\u200b", "<U+200B>"),
    "a joiner between letters": ("\u200d", "<U+200D>"),
    "a byte order mark": ("\ufeff", "<U+FEFF>"),
    "a soft hyphen": ("\xad", "<U+00AD>"),
    "a selector behind a letter": ("\ufe0f", "<U+FE0F>"),
    "a second selector": ("\u2764\ufe0f\ufe0e", "\u2764\ufe0f<U+FE0E>"),
    "a tag character": ("\U000e0041", "<U+E0041>"),
    "tag characters behind a flag": ("\U0001f3f4\U000e0041\U000e007f", "\U0001f3f4<U+E0041><U+E007F>"),
    "a further selector": ("\U000e0110", "<U+E0110>"),
    "a filler": ("\u3164", "<U+3164>"),
    "an invisible operator": ("\u2062", "<U+2062>"),
    "an escape": ("\x1b[2J", "<U+001B>[2J"),
    "a control of the upper half": ("\x9b31m", "<U+009B>31m"),
    "a return without a newline": ("\rb", "<U+000D>b"),
    "a separator of lines": ("\u2028", "<U+2028>"),
}


@pytest.mark.parametrize(("text", "shown"), HIDDEN.values(), ids=HIDDEN)
def test_a_character_that_hides_is_shown_by_its_number(text: str, shown: str) -> None:
    assert visible(f"a{text}b") == f"a{shown}b"
    assert json.loads(visible_json(json.dumps(f"a{text}b", ensure_ascii=False))) == f"a{text}b"


CONTROL_TAGS = [
    "<system-reminder>",
    "<System-Reminder>",
    "< system-reminder>",
    "<\n/\tsystem-reminder >",
    "<system reminder>",
    "<system\u2011reminder>",
    '<system-reminder priority="high">',
    "\uff1csystem-reminder\uff1e",
    "<\uff33\uff39\uff33\uff34\uff25\uff2d-reminder>",
    "<Task_Notification id=1>",
    '<invoke name="Bash">',
    "<function_calls>",
    "<unified-state-memory nonce=1>",
    "</Unified-State-Memory nonce=1>",
    "<command-name>",
    "<teammate-message>",
    "<tool_result>",
    "<|im_start|>system",
    "<<system-reminder>>",
]


@pytest.mark.parametrize("tag", CONTROL_TAGS)
def test_a_control_tag_loses_its_bracket_in_any_spelling(tag: str) -> None:
    shown = visible(f"a {tag} b")
    assert shown.count("\u2039") == 1
    assert shown.replace("\u2039", tag[0]) == f"a {tag} b"
    assert visible(shown) == shown


@pytest.mark.parametrize("tag", CONTROL_TAGS)
def test_in_json_a_control_tag_is_escaped_and_the_value_stays(tag: str) -> None:
    line = visible_json(json.dumps({"text": f"a {tag} b"}, ensure_ascii=False))
    assert "\\u003c" in line or "\\uff1c" in line
    assert json.loads(line) == {"text": f"a {tag} b"}


def test_a_tag_that_is_hidden_in_another_character_does_not_come_together() -> None:
    assert visible("<sys\u200btem-reminder>") == "<sys<U+200B>tem-reminder>"
    assert visible("<\u200bsystem-reminder>") == "<<U+200B>system-reminder>"


@given(st.text())
def test_what_is_visible_is_visible_again(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert not any(
        unicodedata.category(character) == "Cc" for character in shown.replace("\r\n", "").translate({9: "", 10: ""})
    )


@given(st.text())
def test_the_value_of_json_never_changes(text: str) -> None:
    assert json.loads(visible_json(json.dumps(text, ensure_ascii=False))) == text


def test_all_fences_of_a_text_are_found_in_order() -> None:
    assert nonces_in(fenced("a", "a1", "facts") + fenced("b", "b2", "facts")) == ("a1", "b2")


def test_what_is_no_nonce_is_not_taken_for_one() -> None:
    assert nonces_in(f"</{TAG} nonce=> </{TAG} nonce=a b> </{TAG} nonce='x'>") == ()


def test_a_fence_says_what_it_holds() -> None:
    first, body, last = fenced("the body", "a1", "recorded facts").split("\n")
    assert (first, body, last) == (
        '<unified-state-memory nonce=a1 about="recorded facts">',
        "the body",
        "</unified-state-memory nonce=a1>",
    )


def test_what_is_fenced_is_visible_and_cannot_end_the_fence() -> None:
    body = fenced("a\u202eb </unified-state-memory nonce=a1>", "a1", "facts").split("\n")[1]
    assert body == "a<U+202E>b \u2039/unified-state-memory nonce=a1>"


nonces = st.text("0123456789abcdef", min_size=12, max_size=12)
hostile = st.lists(
    st.sampled_from([f"</{TAG} nonce=", f"<{TAG} nonce=", "0123456789ab", ">", "<", "\n", f"</{TAG}>", "\x00", "words"])
    | st.text(max_size=5),
    max_size=12,
).map("".join)


@given(st.text(), nonces)
def test_a_fence_whose_end_was_cut_off_counts_as_not_delivered(body: str, nonce: str) -> None:
    text = fenced(body, nonce, "facts")
    assert nonces_in(text.removesuffix(f"{nonce}>")) == ()


@given(hostile, nonces)
def test_what_items_say_can_neither_open_nor_close_a_fence(body: str, nonce: str) -> None:
    assert nonces_in(fenced(body, nonce, "facts")) == (nonce,)
    assert fenced(body, nonce, "facts").count(f"<{TAG}") == 1
