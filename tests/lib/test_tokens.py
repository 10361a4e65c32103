from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import random
import re
import runpy
import string
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import unified_state
from tests.amount import examples
from unified_state.errors import DamagedFileError
from unified_state.lib import tokens as rules
from unified_state.lib.tokens import (
    RANKS_PATH,
    TokenCounter,
    all_tokens,
    read_ranks,
    upper_bound,
)

OFFICIAL_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
RANKS = Path(RANKS_PATH).read_bytes()
VOCABULARY = all_tokens(RANKS)
TOKENS = frozenset(VOCABULARY)
SOURCE = Path(rules.__file__).read_text(encoding="utf-8")
CHANCE = random.Random(200_000)

ENGLISH = (
    "We won't keep it that way: the user's own words, John's and the others', bind; nobody else's do. They'd "
    "said so (twice!) before I'd asked \u2014 it\u2019s \u201csettled\u201d.\n\n"
    "However, DON'T rewrite history...   Really? \t\tYes.\r\n"
)
ITEMS = [{"id": f"D{n}", "decision": 'Use "x"', "at": "2026-11-22T01:11:26.123Z", "ok": [None, 1.5]} for n in range(40)]
RUNS = [" ", "\n", "a", "A", "=", "7", "'", "é", "中", "\u0301", "\u200b", "ab", "\r\n", " \n", "'s", "_x", "1é"]
TEXTS = {
    "empty": "",
    "English": ENGLISH * 20,
    "code": SOURCE,
    "indented JSON": json.dumps(ITEMS, indent=2),
    "compact JSON": json.dumps(ITEMS, separators=(",", ":")),
    "Chinese": "压缩之后,代理的工作记忆仍然存在。每一个决定、约束和未决问题都保存在磁盘上。" * 20,
    "Japanese": "コンパクションの後でも、エージェントの作業記憶は残ります。ｶﾅ も。" * 20,
    "Hindi, Thai, Arabic": "संक्षेपण के बाद भी स्मृति बनी रहती है। หน่วยความจำ الذاكرة العاملة ٣١٢ ",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪👍🏽 ok 🎉🎉🎉\u200d\ufe0f",
    "hex": CHANCE.randbytes(2_000).hex(),
    "base64": base64.b64encode(CHANCE.randbytes(2_000)).decode(),
    "Latin-1 of random bytes": CHANCE.randbytes(2_000).decode("latin-1"),
    "log": "".join(f"2026-11-22 01:{n:02} ERROR [worker-{n}] 0x{n * 7919:08x} /srv/a_b/c.py:{n}\n" for n in range(60)),
    "special tokens": "a<|endoftext|>b<|endofprompt|><|im_start|>",
    "a lone surrogate": "cut \ud83d off, \udc00, and whole: \ud83d\ude00",
    "not characters": "\x00\x1c\x85\u2028\uffff\U0010ffff\x7f",
    "the longest tokens": " ".join(token.decode(errors="replace") for token in VOCABULARY if len(token) > 40),
    **{f"3,000 times {run!r}": run * 3_000 for run in RUNS},
}
# Characters at which o200k's pattern cuts, or nearly does: contractions, digits of two scripts, marks, kinds of blanks.
CRITICAL = (
    "abdelmorstvkqxzABLRSTV0123456789'\"`:,.;{}[]()/\\-_=<|> \t\n\r\x0b\x1c\x85\xa0\u3000\u2028"
    "\u017fK\u2019٣½éßñǅʰ\u0301中日क्🎉\u200d\ufe0f"
)
critical_text = st.one_of(
    st.text(),
    st.text(CRITICAL, max_size=60),
    st.lists(st.sampled_from(VOCABULARY), max_size=20).map(lambda parts: b"".join(parts).decode(errors="replace")),
    st.lists(st.text(string.ascii_lowercase + "' ", max_size=12), max_size=8).map(" ".join),
)


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> tiktoken.Encoding:
    """tiktoken's own encoding, from the official file in tiktoken's cache; tiktoken checks its hash."""
    cache = tmp_path_factory.mktemp("tiktoken")
    lines = [b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(VOCABULARY)]
    (cache / hashlib.sha1(OFFICIAL_URL.encode()).hexdigest()).write_bytes(b"".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
        return tiktoken.get_encoding("o200k_base")


def test_the_pattern_is_tiktokens(official: tiktoken.Encoding) -> None:
    assert official._pat_str == rules.PATTERN


@pytest.mark.parametrize("name", TEXTS)
def test_counts_as_the_whole_encoding_does(name: str, official: tiktoken.Encoding) -> None:
    assert TokenCounter(RANKS).count([TEXTS[name]]) == [len(official.encode_ordinary(TEXTS[name]))]


@examples(25)
@given(texts=st.lists(critical_text, max_size=4))
def test_counts_any_texts_as_the_whole_encoding_does(texts: list[str], official: tiktoken.Encoding) -> None:
    assert TokenCounter(RANKS).count(texts) == [len(official.encode_ordinary(text)) for text in texts]


@examples(1_000)
@given(text=critical_text)
def test_the_bounds_hold_for_any_text(text: str, official: tiktoken.Encoding) -> None:
    assert len(official.encode_ordinary(text)) <= upper_bound(text) <= _utf8_size(text)


def test_white_space_at_which_tiktoken_panics_is_counted() -> None:
    [count] = TokenCounter(RANKS).count(["x" + " " * 1_100_000 + "y"])
    assert 0 < count <= 20_000


def test_no_token_goes_on_over_a_cut() -> None:
    cut = re.compile(rules.CUTS)
    assert [token for token in VOCABULARY if len(cut.split(token)) > 1] == []


def test_no_token_is_longer_than_the_ranks_say_of_its_first_byte() -> None:
    longest = RANKS[256:512]
    assert [token for token in VOCABULARY if len(token) > longest[token[0]]] == []


def test_all_pairs_that_the_upper_bound_relies_on_are_tokens() -> None:
    words = [f"{first:c}{second:c}".encode() for first, second in itertools.product(rules.PAIRED_LETTERS, repeat=2)]
    starts = [f" {letter:c}".encode() for letter in rules.PAIRED_LETTERS]
    marks = [f"{first:c}{second:c}".encode() for first, second in itertools.product(rules.PAIRED_MARKS, repeat=2)]
    assert {*words, *starts, *marks} <= TOKENS


def test_all_numbers_of_up_to_three_digits_are_tokens() -> None:
    assert {str(number).zfill(width).encode() for width in (1, 2, 3) for number in range(10**width)} <= TOKENS


def _utf8_size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


ROOT = Path(unified_state.__file__).parents[1]
TOOL = Path(__file__).parents[1] / "tools" / "make_token_ranks.py"
OFFLINE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})

def refuse(event, arguments):
    if event.startswith("socket."):
        raise ConnectionRefusedError(event)

sys.addaudithook(refuse)
from unified_state.lib.tokens import count_tokens
print(count_tokens(["hello world", "", "<|endoftext|>"]))
"""
CHEAP = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from unified_state.lib.tokens import upper_bound
from unified_state.lib import tokens as counting
assert 4 <= upper_bound("It's 2026")
print(sorted({{"hashlib", "pathlib", "tiktoken"}} & set(sys.modules)))
"""


def _official_form() -> bytes:
    tokens = all_tokens(read_ranks(RANKS_PATH))
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))


def _printed(*arguments: str, **environment: str) -> str:
    """What a fresh interpreter prints that sees no user's settings and no caches."""
    env = {"PATH": os.defpath, "SYSTEMROOT": os.environ.get("SYSTEMROOT", ""), **environment}
    run = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_the_packaged_vocabulary_is_the_official_one() -> None:
    official = runpy.run_path(str(TOOL))["OFFICIAL_SHA256"]
    assert hashlib.sha256(_official_form()).hexdigest() == official


def test_the_tool_makes_the_packaged_file_from_the_official_one() -> None:
    packed = runpy.run_path(str(TOOL))["packed"]
    assert packed(_official_form()) == Path(RANKS_PATH).read_bytes()


def test_counts_without_network_or_cache(tmp_path: Path) -> None:
    assert _printed("-I", "-c", OFFLINE, HOME=str(tmp_path), TMPDIR=str(tmp_path)) == "[2, 0, 7]"


def test_loading_it_and_bounding_a_text_imports_nothing_heavy() -> None:
    assert _printed("-I", "-S", "-c", CHEAP) == "[]"


@pytest.mark.parametrize("damage", [b"", b"\x00", RANKS_PATH.encode()])
def test_a_damaged_vocabulary_is_an_error_with_a_hint(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "o200k_base.ranks"
    path.write_bytes(damage)
    with pytest.raises(DamagedFileError, match=r"o200k_base\.ranks.*install"):
        read_ranks(str(path))


def test_one_changed_byte_is_damage(tmp_path: Path) -> None:
    ranks = bytearray(Path(RANKS_PATH).read_bytes())
    ranks[len(ranks) // 2] ^= 1
    path = tmp_path / "o200k_base.ranks"
    path.write_bytes(ranks)
    with pytest.raises(DamagedFileError, match="damaged"):
        read_ranks(str(path))


def test_a_missing_vocabulary_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(DamagedFileError, match=r"cannot be read.*install"):
        read_ranks(str(tmp_path / "o200k_base.ranks"))
