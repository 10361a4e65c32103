"""The table of hosts says what can be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unified_state.hosts.transcripts.rules.hosts import HOSTS, Host, host_of
from unified_state.interfaces.hook import EVENTS

PACKAGES = Path(__file__).parents[2] / "other_hosts" / "package.json"
EVERY = pytest.mark.parametrize("host", HOSTS.values(), ids=lambda host: host.name)


@EVERY
def test_each_event_of_a_host_is_one_of_ours(host: Host) -> None:
    assert set(host.events.values()) <= set(EVENTS)
    assert set(host.context_events) <= set(host.events)
    assert "SessionStart" in host.events.values()


@EVERY
def test_after_a_compaction_each_host_has_a_way_to_be_told(host: Host) -> None:
    """By a start of the session, by its transcript, or by one of its hooks with an event that comes after it."""
    speaks_later = any(host.events[event] == "UserPromptSubmit" for event in host.context_events)
    assert host.says_compact or (speaks_later and (host.transcript or "PreCompact" in host.events.values()))


def test_a_host_counts_as_tried_in_the_version_that_the_tests_run() -> None:
    versions = json.loads(PACKAGES.read_text(encoding="utf-8"))["dependencies"]
    assert sorted(versions.values()) == sorted(host.tried for host in HOSTS.values() if host.tried)


def test_a_session_tells_its_host() -> None:
    assert host_of(HOSTS["codex"].session_id("1")) is HOSTS["codex"]
    assert host_of("10000000-0000-4000-8000-000000000008") is None
    assert host_of("other:1") is None
