"""A text that is composed now and shown later, in pieces: where an age or a nonce belongs, it has a value instead."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Pieces = list[str | int | None]


def in_pieces(text: str, values: Mapping[str, int | None]) -> Pieces:
    """Return the text with values in place of their marks: a time for its age, None for the nonce."""
    pieces: Pieces = [text]
    for mark, value in values.items():
        pieces = [part for piece in pieces for part in _parts(piece, mark, value)]
    return pieces


def _parts(piece: str | int | None, mark: str, value: int | None) -> Iterator[str | int | None]:
    if not isinstance(piece, str):
        yield piece
        return
    first, *others = piece.split(mark)
    yield first
    for other in others:
        yield value
        yield other
