"""Made-up secrets of every kind, from the examples by which masking is judged, and where they could still be read."""

from __future__ import annotations

import re
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "secrets" / "examples"
_TELLING = 12  # characters; a shorter one stands in honest texts too


def secret_texts() -> list[str]:
    """Texts that each hold secrets, of every kind there is an example of."""
    lines = [line for path in sorted(EXAMPLES.glob("*.secret.txt")) for line in path.read_text("utf-8").splitlines()]
    return [_plain(line) for line in lines if any(len(secret) >= _TELLING for secret in _secrets(line))]


def planted() -> set[str]:
    """The secrets in those texts that cannot be taken for anything else."""
    lines = [line for path in EXAMPLES.glob("*.secret.txt") for line in path.read_text("utf-8").splitlines()]
    return {secret for line in lines for secret in _secrets(line) if len(secret) >= _TELLING}


def readable_in(content: bytes, secrets: set[str]) -> set[str]:
    """Which of the secrets can be read in some bytes: as they stand, or their longest word, as an index has it."""
    folded = content.lower()
    return {secret for secret in secrets if any(form.encode() in folded for form in _forms(secret))}


def _forms(secret: str) -> list[str]:
    words = re.findall(r"[a-z0-9]+", secret.lower())
    longest = max(words, key=len, default="")
    return [secret.lower(), *([longest] if len(longest) >= _TELLING else [])]


def _plain(line: str) -> str:
    inside = re.sub("«([^»]*)»", lambda found: found[1].replace("|", ""), line)
    return inside.replace("↵", "\n")


def _secrets(line: str) -> list[str]:
    return [secret.replace("|", "").replace("↵", "\n") for secret in re.findall("«([^»]*)»", line)]
