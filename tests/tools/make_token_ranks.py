"""Write `unified_state/lib/o200k_base.ranks` from the official `o200k_base.tiktoken`.

    python tests/tools/make_token_ranks.py o200k_base.tiktoken

The official file is what tiktoken downloads and caches. `unified_state/lib/tokens.py`
describes ours.
"""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path

from unified_state.lib.tokens import SEPARATOR

OFFICIAL_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
TARGET = Path(__file__).parents[2] / "unified_state" / "lib" / "o200k_base.ranks"


def packed(official: bytes) -> bytes:
    """Our form of the official file."""
    tokens = [base64.b64decode(line.split()[0]) for line in official.splitlines()]
    longest = bytearray(256)
    for token in tokens:
        longest[token[0]] = max(longest[token[0]], len(token))
    return b"".join(tokens[:256]) + longest + SEPARATOR.join(tokens[256:])


def main(source: str) -> None:
    official = Path(source).read_bytes()
    if hashlib.sha256(official).hexdigest() != OFFICIAL_SHA256:
        sys.exit(f"{source} is not the official o200k_base.tiktoken")
    ranks = packed(official)
    TARGET.write_bytes(ranks)
    print(f"{TARGET}: {len(ranks):,} bytes, sha256 {hashlib.sha256(ranks).hexdigest()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
