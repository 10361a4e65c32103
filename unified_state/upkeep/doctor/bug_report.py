"""Report a bug: write a report to a file, and return one line for the person."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from sqlite3 import sqlite_version_info

from unified_state.lib.package import __version__
from unified_state.project.health import BUG_REPORT
from unified_state.secrets.rules.mask import mask_text
from unified_state.settings import default_data_dir


def report_bug(error: Exception, arguments: Sequence[str]) -> str:
    """Write the report and return the line that announces it. Only the subcommand is included, because arguments may be
    private.
    """
    report = "\n".join(
        [
            f"unified-state {__version__}, Python {platform.python_version()}, SQLite {sqlite_version_info}",
            f"{platform.system()} {platform.release()}; {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}",
            f"command: {next(iter(arguments), '')}",
            "",
            _masked("".join(traceback.format_exception(error))),
        ]
    )
    bug = _masked(f"a bug: {type(error).__name__}: {error}")
    path = os.path.join(default_data_dir(), BUG_REPORT)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(report)
    except OSError:
        sys.stderr.write(report + "\n")
        return f"{bug}; the report is above, please send it to us"
    return f"{bug}; the report is in {path}, please send it to us"


def _masked(text: str) -> str:
    return mask_text(text, lambda _secret: "in-report")
