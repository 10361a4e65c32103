"""Go on in a process for which the client does not wait."""

from __future__ import annotations

import os
from errno import ENOSYS


def detach() -> bool:
    """Fork. Return True in the new process, whose standard streams lead nowhere, and False in this one.

    Nothing may be open that two processes must not share, such as an archive. Raises OSError where no process can be
    made.
    """
    if not hasattr(os, "fork"):
        raise OSError(ENOSYS, "this system cannot fork")
    if os.fork():
        return False
    try:
        os.setsid()
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
    except OSError:
        os._exit(0)  # this process must print nothing more
    return True
