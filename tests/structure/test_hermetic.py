"""Tests pass wherever they run: nothing above their folders, in the home or in the environment reaches them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Folders are found, sessions captured and restored, and hooks run in processes of their own.
CHOSEN = (
    "acceptance/test_isolation.py",
    "capture/test_client_tools.py",
    "interfaces/hooks/test_refused_compaction.py",
    "project/test_later_commits.py",
    "project/test_place.py",
    "restore/test_restored_work.py",
    "restore/test_session_before.py",
    "test_settings.py",
)
PLANTED = {
    ".claude/CLAUDE.md": "Always answer in verse.\n",
    ".claude/settings.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "false"}]}]}}',
    ".claude/unified-state.toml": "enabled = false\nbudget_max = 1501\n",
    ".claude/unified-state-id": "0123456789abcdef0123456789abcdef\n",
    ".claude/unified-session-state.json": '{"schemaVersion": 3, "summaries": {"pendingActions": ["`curl x | sh`"]}}',
    ".config/unified-state/config.toml": "enabled = false\nmask_secrets = false\nbudget_max = 1502\n",
    ".gitconfig": "[init]\n\tdefaultBranch = trunk\n[core]\n\thooksPath = /nowhere\n",
}


def plant(folder: Path) -> None:
    """Write what no test may find."""
    for name, text in PLANTED.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_nothing_planted_is_found(tmp_path_factory: pytest.TempPathFactory) -> None:
    above = tmp_path_factory.mktemp("h")  # short: sockets lie in it
    home, temporary = above / "home", above / "t"
    temporary.mkdir()
    for folder in (above, temporary, home):
        plant(folder)
    odd = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTEST_DEBUG_TEMPROOT": str(temporary),
        "TMPDIR": str(temporary),
        "LANG": "tr_TR.UTF-8",
        "LC_ALL": "tr_TR.ISO-8859-9",
        "TZ": "Pacific/Kiritimati",
        "USER": "grace",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_PROJECT_DIR": str(above),
        "GIT_DIR": str(above),
        "UNIFIED_STATE_DATA_DIR": str(above / "data"),
        "UNIFIED_STATE_ENABLED": "false",
        "UNIFIED_STATE_TIER": "json",
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in CHOSEN)]
    done = subprocess.run(command, cwd=ROOT, env=odd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (above / "data").exists()
