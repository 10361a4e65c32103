from __future__ import annotations

import pytest

import unified_state


def test_every_public_name_is_there() -> None:
    assert all(hasattr(unified_state, name) for name in unified_state.__all__)


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="module 'unified_state' has no attribute 'Manager'"):
        unified_state.Manager  # noqa: B018  # what is tested
