"""Go on in a process for which the client does not wait."""

from __future__ import annotations

from unified_state.lib.stdlib import system

_ENOSYS = 38


def detach() -> bool:
    """Fork. Return True in the new process, whose standard streams lead nowhere, and False in this one.

    Nothing may be open that two processes must not share, such as an archive. Raises OSError where no process can be
    made.
    """
    if not hasattr(system, "fork"):
        raise OSError(_ENOSYS, "this system cannot fork")
    if system.fork():
        return False
    try:
        system.setsid()
        null = system.open("/dev/null", system.O_RDWR)
        for descriptor in (0, 1, 2):
            system.dup2(null, descriptor)
    except OSError:
        system._exit(0)  # noqa: SLF001  # as `os` has it; this process must print nothing more
    return True
