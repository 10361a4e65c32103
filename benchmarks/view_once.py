"""Start the viewer, read its main pages once, and end it: `python view_once.py PROGRAM SESSION`.

A process of its own, so that what it and the viewer took of a processor can be told when both have ended.
"""

from __future__ import annotations

import subprocess
import sys
import urllib.request

_PAGES = ("/", "/session/{session}", "/state", "/search?q=retry+build")


def main(program: str, session: str) -> None:
    """Read each page with the cookie that the viewer's first address gives."""
    command = [program, "view", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as viewer:
        try:
            address = viewer.stdout.readline().strip() if viewer.stdout else ""
            base, _, token = address.partition("/?token=")
            cookie = {"Cookie": f"unified_state_{base.rpartition(':')[2]}={token}"}
            for page in _PAGES:
                with urllib.request.urlopen(
                    urllib.request.Request(base + page.format(session=session), headers=cookie)
                ) as answer:
                    answer.read()
        finally:
            viewer.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:])
