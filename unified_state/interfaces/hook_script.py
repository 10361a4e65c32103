"""The script `unified-state-hook` as installers write it: it makes itself the fast launcher again, and becomes that.

An update of the program puts the installer's own script in the launcher's place. Settings name the path, so the hooks
go on, and from the second one on they are as fast as before.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from unified_state.agents.install.hook_launcher import write_launcher
from unified_state.agents.install.hook_table import HOOK_MODULE, WORDS
from unified_state.agents.install.program_launcher import write_program


def main() -> None:
    """Run the hook that the process's arguments name, as the launcher does."""
    write_program()
    launcher = write_launcher()
    if launcher:
        os.execv(launcher, [launcher, *sys.argv[1:]])  # noqa: S606  # our own file, and no shell
    modules = {word: module for module, word in WORDS.items()}
    module = modules.get(sys.argv[1] if len(sys.argv) > 1 else "", HOOK_MODULE)
    if module != HOOK_MODULE:
        del sys.argv[1]
    import_module(module).main()
