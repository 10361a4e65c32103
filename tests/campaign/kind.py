"""A kind of input: where it begins, how it is changed, and what must hold for any of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from tests.campaign.world import World


class BrokenError(AssertionError):
    """A promise that did not hold for an input."""


class Kind(NamedTuple):
    """`meet` gives an input to the product and raises BrokenError; `seeds` are the first inputs."""

    name: str
    seeds: Callable[[], list[bytes]]
    meet: Callable[[World, bytes], None]
    words: tuple[str, ...] = ()


def fail(what: object) -> NoReturn:
    """Raise BrokenError."""
    raise BrokenError(str(what)[:2000])


def expect(holds: object, what: object) -> None:
    """Raise BrokenError where something does not hold."""
    if not holds:
        fail(what)
