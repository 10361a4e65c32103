from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import NOW, SESSION, Entry, append
from unified_state.capture.capture_transcript import Capture
from unified_state.model.hook_event import Moment
from unified_state.project.workspace.workspace import open_workspace


@pytest.fixture
def keep(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Archives entries of the session that the server belongs to."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)

    def keep_entries(*entries: Entry) -> None:
        path = tmp_path / f"{SESSION}.jsonl"
        append(path, *entries)
        workspace = open_workspace(os.fspath(repository), SESSION, report=print)
        workspace.use(
            lambda archive: Capture(archive, workspace.masker, Moment(NOW)).transcript(str(path), SESSION, to_end=True)
        )

    return keep_entries
