"""Masking, judged by lists of examples: one of secrets and one of clean texts for every kind, in `examples/`.

In a list each line is one text; « » enclose what must be masked, ↵ is a line end, and a | within « » is left out: it
keeps our own examples from being taken for leaked secrets.
"""

import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.amount import amount
from unified_state.secrets.rules.mask import find_secrets, mask_text, mask_value
from unified_state.secrets.rules.secret_tokens import SHORTEST_RUN, read_formats

EXAMPLES = Path(__file__).parent / "examples"
COOKIES = ("Qwer1234Tyui5678Opas", "Zxcv0987Bnmk6543Lkjh", "Asdf4567Ghjk8901Poiu")
OTHER_KINDS = {
    *("private-key", "url-password", "slack-webhook", "telegram-token", "discord-token"),
    *("authorization", "signature", "password", "secret", "token", "key", "credential"),
}


def tag(secret: str) -> str:
    return format(zlib.crc32(secret.encode("utf-8", "surrogatepass")), "08x")


def read_examples(suffix: str) -> list[tuple[str, str]]:
    """Kind and text of each line in the lists."""
    return [
        (path.name.removesuffix(suffix), line.replace("↵", "\n"))
        for path in sorted(EXAMPLES.glob(f"*{suffix}"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def expand(kind: str, line: str) -> tuple[str, str]:
    """The text of an example, and what must become of it."""
    text = expected = ""
    for part in line.split("»"):
        clean, opening, secret = part.partition("«")
        secret = secret.replace("|", "")
        text += clean + secret
        expected += clean + (f"[MASKED {kind} {tag(secret)}]" if opening else "")
    return text, expected


SECRET = read_examples(".secret.txt")
CLEAN = read_examples(".clean.txt")
TEXTS = [expand(kind, line)[0] for kind, line in SECRET] + [line for _, line in CLEAN]

fragments = st.one_of(
    st.sampled_from(TEXTS),
    st.sampled_from(
        [f"[MASKED password {tag('x')}]", "[MASKED ", "\\", '"', "'", "=", ":", "@", "://", "\n", "--", "é", "\ud83d"]
    ),
    st.sampled_from(
        ["\x1b[32m", "\x1b[0m", "\\u001b[1m", "\x9b0m", "curl -u ann:", "Cookie: a=", "ENV TOKEN ", "-p", "_"]
    ),
    st.sampled_from(
        ["eyJ", "-----BEGIN ", "PRIVATE KEY-----", "password", "TOKEN", "Bearer ", "sk-", "ghp_", "?", "&"]
    ),
    st.text(max_size=40),
)
texts = st.lists(fragments, max_size=8).map("".join)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), texts),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.one_of(texts, st.sampled_from(["password", "token", "Authorization", "url"])), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(("kind", "line"), SECRET)
def test_a_secret_and_nothing_else_is_masked(kind: str, line: str) -> None:
    text, expected = expand(kind, line)
    assert mask_text(text, tag) == expected


@pytest.mark.parametrize(("kind", "line"), CLEAN)
def test_what_only_resembles_a_secret_stays(kind: str, line: str) -> None:
    assert mask_text(line, tag) is line


def test_every_kind_with_examples_has_both_lists_and_every_kind_without_a_prefix_has_examples() -> None:
    """Kinds with a prefix are in the corpus too, all of them (test_secret_corpus)."""
    listed = {kind for kind, _ in SECRET}
    assert {kind for kind, _ in CLEAN} == listed
    assert OTHER_KINDS <= listed <= OTHER_KINDS | {kind for kind, *_ in read_formats()}


def test_every_format_begins_with_a_run_that_the_first_pass_sees() -> None:
    for kind, prefixes, _, shortest, _ in read_formats():
        for prefix in prefixes:
            visible = shortest if prefix.endswith(b".") else len(prefix) + shortest
            assert len(prefix) >= 3, kind
            assert visible >= SHORTEST_RUN, kind


@given(texts)
def test_a_masked_text_is_not_masked_again(text: str) -> None:
    masked = mask_text(text, tag)
    assert mask_text(masked, tag) == masked


@given(texts)
def test_nothing_outside_the_secrets_changes(text: str) -> None:
    pieces = []
    position = 0
    for start, end, kind in find_secrets(text):
        assert position <= start < end <= len(text)
        pieces += [text[position:start], f"[MASKED {kind} {tag(text[start:end])}]"]
        position = end
    assert "".join([*pieces, text[position:]]) == mask_text(text, tag)


@given(json_values)
def test_a_masked_value_is_not_masked_again(value: object) -> None:
    masked = mask_value(value, tag)
    assert mask_value(masked, tag) == masked


def test_a_field_is_masked_for_its_name_alone() -> None:
    value = {"user": "ann", "password": "swordfish", "headers": [{"Authorization": "Bearer abcdef123456"}], "token": 5}
    assert mask_value(value, tag) == {
        "user": "ann",
        "password": f"[MASKED password {tag('swordfish')}]",
        "headers": [{"Authorization": f"Bearer [MASKED authorization {tag('abcdef123456')}]"}],
        "token": 5,
    }


def test_masking_leaves_the_given_value_as_it_is() -> None:
    value = {"steps": [{"password": "swordfish"}]}
    mask_value(value, tag)
    assert value == {"steps": [{"password": "swordfish"}]}


def test_a_deeply_nested_value_is_masked_at_its_bottom() -> None:
    value: object = "PASSWORD=hunter2"
    for _ in range(5000):
        value = [value]
    masked = mask_value(value, tag)
    while isinstance(masked, list):
        masked = masked[0]
    assert masked == f"PASSWORD=[MASKED password {tag('hunter2')}]"


def test_a_secret_has_the_same_mask_wherever_it_stands() -> None:
    text = mask_text('DB_PASSWORD=hunter2\n"password": "hunter2"', tag)
    assert text.count(f"[MASKED password {tag('hunter2')}]") == 2


def test_the_kind_is_that_of_the_token_rather_than_of_its_name() -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    assert mask_text(f"TOKEN={token}", tag) == f"TOKEN=[MASKED github-token {tag(token)}]"


@pytest.mark.parametrize("between", [" ", ", ", "\\n", "; Path=/ ", "; Path=/, ", f"; {'theme=dark; ' * 400}"])
@pytest.mark.parametrize("header", ["Cookie", "Set-Cookie"])
def test_every_cookie_header_of_a_line_is_masked(header: str, between: str) -> None:
    text = between.join(f"{header}: sid={value}; theme=dark" for value in COOKIES)
    masked = mask_text(text, tag)
    assert not [value for value in COOKIES if value in masked]


def test_a_cookie_option_in_front_of_a_cookie_header_is_masked_too() -> None:
    option = f"curl --cookie a=b;c={COOKIES[0]};d={COOKIES[1]} https://example.net"
    masked = mask_text(f"{option}\nCookie: e={COOKIES[2]}; theme=dark", tag)
    assert not [value for value in COOKIES[::2] if value in masked]


UNITS = (
    "eyJ", "eyJaaaaaaaaaaaaaaaaaaaa.", "://a:b@", "-----BEGIN PRIVATE KEY-----", "token=", 'token="\\"', "TOKEN=a1",
    "password:", "--password ", "ghp_", "sk-ant-", "a", "=", "[MASKED password 0123abcd]", "Authorization: ", "\\", "é",
    "?token=", "hooks.slack.com/", "A.B.", "\ud83d", "password=" + "a" * 4097 + " ", "token: str = ", "\x1b[",
    "mysql -p", " -u", "ENV ", "machine ", "Cookie: a=b;", "_ghp_", "\x1b[1mghp_\x1b[0m",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_the_time_grows_no_faster_than_the_text(unit: str) -> None:
    """What took quadratic time would not end."""
    text = unit * (amount(300_000, 40_000) // len(unit))
    masked = mask_text(text, tag)
    assert mask_text(masked, tag) == masked
