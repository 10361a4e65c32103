"""No secret of the corpus is missed, wherever it stands; the table of forms is the one that the public list gives."""

from __future__ import annotations

import json
import string
import zlib
from pathlib import Path
from random import Random

import pytest

from tests.secrets.secret_corpus import CONTEXTS, NOTATIONS, PLACED, named, tokens
from tests.tools import make_secret_formats
from unified_state.secrets.rules.mask import mask_text, mask_value

TOKENS = list(tokens())
NAMED = list(named())


def tag(secret: str) -> str:
    return format(zlib.crc32(secret.encode("utf-8", "surrogatepass")), "08x")


def masked(text: str) -> str:
    """The text as it is kept: as it stands and, where it is JSON, as JSON."""
    kept = mask_text(text, tag)
    try:
        value = json.loads(text)
    except ValueError:
        return kept
    return kept + json.dumps(mask_value([value], tag), ensure_ascii=False)


def is_readable(secret: str, text: str) -> bool:
    """Whether the secret, or its second half, stands in the text."""
    return secret in text or secret[len(secret) // 2 :] in text


def test_the_corpus_has_150_kinds_40_contexts_and_20_notations() -> None:
    assert len({name for name, _ in TOKENS}) + len(NAMED) + len(PLACED) >= 150
    assert len(CONTEXTS) >= 40
    assert len(NOTATIONS) >= 20


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_kind_of_token_is_masked_in_every_context(context: str) -> None:
    missed = [name for name, token in TOKENS if is_readable(token, masked(CONTEXTS[context](token)))]
    assert missed == []


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_named_secret_is_masked_in_every_notation(notation: str) -> None:
    missed = [name for name, value in NAMED if is_readable(value, masked(NOTATIONS[notation](name, value)))]
    assert missed == []


@pytest.mark.parametrize("place", PLACED)
def test_a_secret_that_only_its_place_gives_away_is_masked(place: str) -> None:
    text, secret = PLACED[place]
    assert not is_readable(secret, masked(text))


@pytest.mark.parametrize("context", CONTEXTS)
def test_what_is_masked_in_a_context_is_not_masked_again(context: str) -> None:
    for _, token in TOKENS[::7]:
        once = mask_text(CONTEXTS[context](token), tag)
        assert mask_text(once, tag) == once


@pytest.mark.parametrize(
    "clean",
    [
        *("ASIAPACIFICSOUTHEAST", "AKIAXXXXXXXXXXXXXXXX", "AKIAIOSFODNN7EXAMPLE"),
        "task-iFW2b0pp5noXDHN7oyZKboHQwJQWHrPq",
        *("curl -u $USER:$PASS https://x", "curl -u ann https://x", "mysql -u root -p shop", "mkdir -p build/x1"),
        *("ssh -p 2222 host", "docker run -p 8080:80 app", "sshpass -p $PASS ssh x"),
        "machine learning login password x1",
        *("CACHE_KEY=user-profile-1", "PUBLIC_KEY=abc123def456ghi", "SORT_KEY=created_at", "GIT_AUTHOR=ann12345678"),
        *("Cookie: theme=dark; lang=en", "Set-Cookie: a=; Path=/; Max-Age=3600", '"auth": "required"'),
        "ENV NODE_ENV production",
        *("\x1b[32mok\x1b[0m 12 passed", "\\033[1mBold\\033[0m", "ENV API_TOKEN", "set -x PATH /usr/bin"),
    ],
)  # fmt: skip
def test_what_only_stands_where_a_secret_could_stays(clean: str) -> None:
    assert mask_text(clean, tag) is clean


def test_the_checked_in_table_is_what_the_generator_writes() -> None:
    assert make_secret_formats.PATH.read_text(encoding="utf-8") == make_secret_formats.table_text()


def test_the_license_lies_beside_the_public_list() -> None:
    text = Path(make_secret_formats.RULES).with_name("LICENSE").read_text(encoding="utf-8")
    assert text.startswith("MIT License\n\nCopyright (c) 2019 Zachary Rice\n")


def test_an_aws_id_without_a_digit_is_masked() -> None:
    draw = Random("aws")
    ids = ["AKIA" + "".join(draw.choices(string.ascii_uppercase, k=16)) for _ in range(300)]
    missed = [one for one in ids if mask_text(f"id {one}", tag) == f"id {one}"]
    assert len(missed) <= 6  # those that read like words, or have few different letters


def test_every_rule_of_the_list_is_a_row_or_left_out_for_a_reason() -> None:
    assert make_secret_formats.unused_rules() == []
