"""The fence round every text that we put into a conversation, and the nonce by which we find it there again.

A fence opens and closes with the same random nonce, so nothing inside can close it. A text has reached the model whole
when its closing line stands in the transcript: of an output that is too long the client shows only the beginning.
"""

from __future__ import annotations

TAG = "unified-state-memory"
_CLOSING = f"</{TAG} nonce="


def fenced(body: str, nonce: str, about: str) -> str:
    """The body between an opening and a closing line that carry the nonce; `about` says in a few words what it is."""
    return f'<{TAG} nonce={nonce} about="{about}">\n{body}\n{_CLOSING}{nonce}>'


def nonces_in(text: str) -> tuple[str, ...]:
    """The nonces of the fences that close in a text."""
    endings = (part[:64].split(">", 1)[0] for part in text.split(_CLOSING)[1:])
    return tuple(nonce for nonce in endings if nonce.isalnum())
