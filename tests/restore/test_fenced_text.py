from __future__ import annotations

import shutil
from pathlib import Path

from tests.builders import NOW, SESSION
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.model.hook_event import BRIEF
from unified_state.restore.fenced_text import remember


def test_whoever_knows_all_that_is_archived_cannot_tell_the_next_nonce(archive: Archive, tmp_path: Path) -> None:
    session = touch_session(archive, SESSION, NOW)
    shutil.copy(archive.path, tmp_path / "copy.db")
    with Archive(str(tmp_path / "copy.db")) as copy:
        nonces = [remember(one, session, BRIEF, "D1 Use SQLite", NOW, None) for one in (archive, copy)]
    assert nonces[0] != nonces[1]
    assert {len(nonce) for nonce in nonces} == {12}
