"""A project of no one, with the default settings and an empty archive, that is gone afterwards.

Nothing of the machine gets in: no settings, no environment, no key of its own, so that every run gives the same.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unified_state.project.place import KEY_FILE, locate
from unified_state.project.workspace.workspace import Workspace
from unified_state.settings import Settings


@contextmanager
def temporary_workspace() -> Iterator[tuple[Workspace, Path]]:
    """The workspace of an empty project, and a folder for what is to be ingested."""
    with tempfile.TemporaryDirectory(prefix="unified-state-") as name:
        project, data, transcripts = (Path(name) / part for part in ("project", "data", "transcripts"))
        for folder in (project, data, transcripts):
            folder.mkdir()
        (data / KEY_FILE).write_bytes(bytes(32))
        settings = Settings()
        settings.data_dir = str(data)
        place = locate(str(project), settings.data_dir, create=True)
        yield Workspace(place, settings, report=lambda line: print(line, file=sys.stderr)), transcripts
