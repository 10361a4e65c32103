from __future__ import annotations

import pytest

import unified_state
from unified_state.context.messages.message_archive import MessageArchive
from unified_state.context.messages.prune_messages import prune_messages
from unified_state.state_file.manager import UnifiedStateManager


def test_the_manager_is_public() -> None:
    assert unified_state.UnifiedStateManager is UnifiedStateManager


def test_pruning_and_the_archive_of_what_it_cuts_are_public() -> None:
    assert unified_state.prune_messages is prune_messages
    assert unified_state.MessageArchive is MessageArchive


def test_every_public_name_is_there() -> None:
    assert all(hasattr(unified_state, name) for name in unified_state.__all__)


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="module 'unified_state' has no attribute 'Manager'"):
        unified_state.Manager  # noqa: B018  # what is tested
