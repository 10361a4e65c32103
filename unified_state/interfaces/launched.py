"""The hooks as the launcher runs them: `EVENT [PART] [DATA_DIR]`, or the word of a hook around a tool call."""

from __future__ import annotations

import sys
from importlib import import_module

from unified_state.lib.package import USE_ANOTHER, lacks_sqlite
from unified_state.model.hook_event import HOOK_WORDS


def main() -> None:
    """Run the hook of the process's arguments, and exit the process."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if word in HOOK_WORDS:
        del sys.argv[1]
    try:
        hook = import_module(f"unified_state.interfaces.{HOOK_WORDS.get(word, 'hook')}")
    except ImportError as error:
        if lacks_sqlite(error):
            sys.exit(USE_ANOTHER)
        raise
    hook.main()
