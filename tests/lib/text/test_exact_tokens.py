"""The packaged vocabulary: it is the official one, it needs no network, and damage is found."""

from __future__ import annotations

import base64
import hashlib
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import unified_state
from unified_state.errors import DamagedFileError
from unified_state.lib.text.exact_tokens import RANKS_PATH, count_tokens, read_ranks
from unified_state.lib.text.token_count import all_tokens

ROOT = Path(unified_state.__file__).parents[1]
TOOL = Path(__file__).parents[2] / "tools" / "make_token_ranks.py"
OFFLINE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})

def refuse(event, arguments):
    if event.startswith("socket."):
        raise ConnectionRefusedError(event)

sys.addaudithook(refuse)
from unified_state.lib.text.exact_tokens import count_tokens
print(count_tokens(["hello world", "", "<|endoftext|>"]))
"""
CHEAP = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from unified_state.lib.text.token_count import lower_bound, upper_bound
from unified_state.lib.text import exact_tokens as counting
assert lower_bound("It's 2026") <= 4 <= upper_bound("It's 2026")
print(sorted({{"re", "hashlib", "pathlib", "typing", "tiktoken"}} & set(sys.modules)))
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


def test_counts_texts_in_their_order() -> None:
    assert count_tokens(["hello world", "", "hello"]) == [2, 0, 1]


def test_counts_the_same_each_time() -> None:
    assert count_tokens(["hello world"]) == count_tokens(["hello world"]) == [2]


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
