"""Opening a workspace: a client may have gone on to another session in the same process."""

from __future__ import annotations

import pytest

from tests.builders import NOW, SESSION
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import end_session, touch_session
from unified_state.project.workspace.workspace import Workspace, in_session_of_client

OTHER = "0f00d000-0000-4000-8000-000000000000"


def test_after_a_clear_it_is_the_new_session(workspace: Workspace, archive: Archive) -> None:
    end_session(archive, touch_session(archive, SESSION, NOW, pid=7), NOW + 1, "clear")
    touch_session(archive, OTHER, NOW + 2, pid=7)
    assert in_session_of_client(workspace).session_id == OTHER


def test_after_a_resume_it_is_the_older_session(workspace: Workspace, archive: Archive) -> None:
    end_session(archive, touch_session(archive, OTHER, NOW - 9_000, pid=3), NOW - 8_000, "other")
    end_session(archive, touch_session(archive, SESSION, NOW, pid=7), NOW + 1, "resume")
    touch_session(archive, OTHER, NOW + 2, pid=7)
    assert in_session_of_client(workspace).session_id == OTHER


@pytest.mark.parametrize("pid", [8, None])
def test_another_clients_session_is_not_followed(workspace: Workspace, archive: Archive, pid: int | None) -> None:
    touch_session(archive, SESSION, NOW, pid=7)
    touch_session(archive, OTHER, NOW + 2, pid=pid)
    assert in_session_of_client(workspace).session_id == SESSION


def test_an_earlier_session_of_a_process_with_the_same_number_is_not_followed(
    workspace: Workspace, archive: Archive
) -> None:
    touch_session(archive, OTHER, NOW - 2, pid=7)
    touch_session(archive, SESSION, NOW, pid=7)
    assert in_session_of_client(workspace).session_id == SESSION
