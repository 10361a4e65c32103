"""A hook that notes its call in a file and behaves as told: `hook_recorder.py CALLS BEHAVIOUR`.

BEHAVIOUR is JSON, all optional: `{"seconds": wait first, "stdout": text, "stderr": text, "exit_status": number}`.
A line of CALLS holds the event's JSON, the client's variables (never a key or a token), and the transcript's size after
the wait: a transcript only grows, so that prefix of the file is what a hook could read.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time


def main(calls: str, behaviour: str) -> int:
    """Wait, note the call, print; gives the exit status."""
    started = time.time()
    event, told = json.load(sys.stdin), json.loads(behaviour)
    time.sleep(told.get("seconds", 0))
    transcript = event.get("transcript_path", "")
    note = {
        "event": event,
        "environment": {name: value for name, value in os.environ.items() if _is_harmless(name)},
        "transcript_size": os.path.getsize(transcript) if os.path.exists(transcript) else 0,
        "parent_process": os.getppid(),
        "started": started,
    }
    with open(calls, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(note) + "\n")
    sys.stdout.write(told.get("stdout", ""))
    sys.stderr.write(told.get("stderr", ""))
    return int(told.get("exit_status", 0))


def _is_harmless(name: str) -> bool:
    return name.startswith("CLAUDE") and not any(word in name for word in ("KEY", "TOKEN"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
