"""The script `unified-state-hook` as installers write it: it makes itself the launcher again, and becomes that.

An update of the program puts the installer's own script in the launcher's place. Settings name the path, so the hooks
go on.
"""

from __future__ import annotations

import os
import sys

from unified_state.hosts.install.hook_launcher import launcher_path, write_launcher
from unified_state.interfaces import launched


def main() -> None:
    """Run the hook that the process's arguments name, as the launcher does."""
    if write_launcher():
        launcher = launcher_path()
        os.execv(launcher, [launcher, *sys.argv[1:]])  # noqa: S606  # our own file, and no shell
    launched.main()
