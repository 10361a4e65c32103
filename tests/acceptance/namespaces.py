"""Processes in namespaces of their own: full and read-only disks and missing networks that nobody else notices.

Root makes namespaces as it is; others do where the machine lets users have their own. Elsewhere these tests cannot run,
and say so; to root they never skip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

_AS_ROOT = () if os.geteuid() == 0 else ("--user", "--map-root-user")
_READY = "ready"
# The mounts are made, then the namespace is kept open until its standard input is closed.
_KEEPER = f"set -e\n{{mounts}}\necho {_READY}\nread -r _ || true\n"
# `nsenter` starts in the root folder; a command begins where it was called from.
_ENTER = 'cd "$1" && shift && exec "$@"'


def need_namespaces() -> None:
    """Skip, with the reason, where namespaces are not to be had; root must have them."""
    if not shutil.which("unshare") or not shutil.which("nsenter"):
        pytest.skip("there are no namespaces on this system (no unshare, nsenter)")
    done = subprocess.run(
        ["unshare", *_AS_ROOT, "--mount", "--net", "true"], capture_output=True, text=True, check=False
    )
    if done.returncode and os.geteuid() != 0:
        pytest.skip(f"users may not make namespaces here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr


@contextmanager
def mounted(mounts: str) -> Iterator[tuple[str, ...]]:
    """A mount namespace in which the shell script `mounts` has run; yields the prefix that runs commands in it."""
    need_namespaces()
    command = ["unshare", *_AS_ROOT, "--mount", "--propagation", "private", "sh", "-c", _KEEPER.format(mounts=mounts)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        try:
            assert keeper.stdout.readline().strip() == _READY, "the mounts could not be made"
            user = ("--user", "--preserve-credentials") if _AS_ROOT else ()
            yield ("nsenter", "--target", str(keeper.pid), *user, "--mount", "sh", "-c", _ENTER, "sh", os.getcwd())
        finally:
            keeper.stdin.close()


def without_network() -> tuple[str, ...]:
    """The prefix that runs commands with no network at all, not even the loopback."""
    need_namespaces()
    return ("unshare", *_AS_ROOT, "--net")


def in_folder(prefix: Sequence[str], folder: str) -> tuple[str, ...]:
    """The prefix of `mounted`, with another folder to begin in."""
    return (*prefix[:-1], folder)
