"""Namespaces of their own for the real client: loopback only, homes hidden, and every process ends with them.

The file plays both parts: imported, it starts a sandbox and runs programs in it; run as a script, it is the sandbox's
first process. Invariant: nothing starts inside before `lo` was seen to be the only network interface.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import json
import os
import pwd
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

NAMESPACES = ("--net", "--mount", "--pid")
ROOT_OF_ITS_OWN = ("--user", "--map-root-user")
MS_BIND, MS_REC = 0x1000, 0x4000  # linux/mount.h
_OWN_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)  # read before tests replace the password database
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1  # linux/sockios.h, linux/if.h


class Sandbox:
    """One set of namespaces. `visible` is what stays although it lies in a hidden folder (a home, /tmp)."""

    def __init__(self, visible: Iterable[Path]) -> None:
        view = {"hidden": [str(path) for path in private_folders()], "visible": [str(path) for path in visible]}
        self._lifeline, theirs = socket.socketpair()
        with theirs:
            first_process = [sys.executable, "-I", "-S", __file__, str(theirs.fileno()), json.dumps(view)]
            command = ["unshare", *_user_namespace(), *NAMESPACES, "--mount-proc", "--fork", "--kill-child"]
            self._namespaces = subprocess.Popen([*command, *first_process], env={}, pass_fds=[theirs.fileno()])
        _, descriptors, _, _ = socket.recv_fds(self._lifeline, 1, 1)
        if not descriptors:
            message = f"the sandbox could not be set up (exit status {self._namespaces.wait()}); stderr says why"
            raise RuntimeError(message)
        self.listener = socket.socket(fileno=descriptors[0])
        """Listens on the sandbox's loopback; it is served from out here."""
        self._first_process = _only_child(self._namespaces)

    def start(
        self, command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[str]:
        """Start `command` inside, with `env` as its whole environment; its output goes to pipes."""
        return subprocess.Popen(
            self.entering(command, cwd),
            env=dict(env),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def entering(self, command: Sequence[str | Path], cwd: Path) -> list[str]:
        """The command line that runs `command` inside."""
        user = ["--user", "--preserve-credentials"] if _user_namespace() else []
        enter = ["nsenter", "--target", str(self._first_process), *user, *NAMESPACES, "--", "env", "-C", str(cwd)]
        return [*enter, *map(str, command)]

    def run(
        self, command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], stdin: str = "", timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run `command` inside to its end, at most `timeout` seconds."""
        process = self.start(command, cwd=cwd, env=env, stdin=subprocess.PIPE)
        stdout, stderr = process.communicate(stdin, timeout)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def kill(self, process: subprocess.Popen[str]) -> None:
        """Kill what `start` started, the way a crash does: SIGKILL, no time to clean up."""
        os.kill(_only_child(process), signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        """End every process inside."""
        self.listener.close()
        self._lifeline.close()
        self._namespaces.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def unavailable() -> str | None:
    """Why no sandbox can be made on this machine, or None."""
    if sys.platform != "linux":
        return "namespaces need Linux"
    missing = [program for program in ("unshare", "nsenter") if shutil.which(program) is None]
    if missing:
        return f"namespaces need {' and '.join(missing)} (util-linux)"
    if _can_unshare() or _can_unshare(*ROOT_OF_ITS_OWN):
        return None
    return "namespaces need root or user namespaces, and this machine gives neither"


def private_folders() -> set[Path]:
    """What no program inside may see: the homes, others' temporary files, the machine's policy for the client."""
    folders = {_OWN_HOME, Path("/root"), Path("/home"), Path("/tmp"), Path("/etc/claude-code")}
    return {folder for folder in folders if folder.is_dir() and folder != Path("/")}


def _user_namespace() -> tuple[str, ...]:
    return () if _can_unshare() else ROOT_OF_ITS_OWN


@functools.cache
def _can_unshare(*user: str) -> bool:
    attempt = ["unshare", *user, *NAMESPACES, "--mount-proc", "--fork", "true"]
    return subprocess.run(attempt, capture_output=True, check=False).returncode == 0


def _only_child(process: subprocess.Popen[Any]) -> int:
    """The process that `unshare` or `nsenter` forks into the namespaces, waited for."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (found := children.read_text(encoding="ascii").split()):
        if process.poll() is not None:
            message = f"{process.args!r} ended with {process.returncode}"
            raise ChildProcessError(message)
        time.sleep(0.001)
    return int(found[0])


# Inside: the first process.


def _be_first_process(lifeline: socket.socket, hidden: Sequence[str], visible: Sequence[str]) -> None:
    """Set the namespaces up, hand a listening socket out, then live as long as the other end of `lifeline`."""
    _hide(hidden, visible)
    _bring_loopback_up()
    interfaces = {line.partition(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]}
    if interfaces != {"lo"}:
        sys.exit(f"sandbox: expected loopback alone, found {sorted(interfaces)}")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans become our children; nobody asks for their status
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        socket.send_fds(lifeline, [b"\0"], [listener.fileno()])
    lifeline.recv(1)


def _hide(hidden: Sequence[str], visible: Sequence[str]) -> None:
    """Cover the hidden folders with empty ones and bind the visible parts of them back to where they were."""
    covered = {path for path in visible if any(Path(path).is_relative_to(folder) for folder in hidden)}
    kept = {path: os.open(path, os.O_PATH) for path in covered}
    for folder in sorted(hidden):
        Path(folder).mkdir(parents=True, exist_ok=True)  # it may lie in one that has just been covered
        _mount("tmpfs", folder, kind="tmpfs")
        Path(folder).chmod(0o1777)
    for path, descriptor in sorted(kept.items()):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            Path(path).mkdir(parents=True, exist_ok=True)
        else:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).touch()
        _mount(f"/proc/self/fd/{descriptor}", path, flags=MS_BIND | MS_REC)
        os.close(descriptor)


def _mount(source: str, target: str, *, kind: str | None = None, flags: int = 0) -> None:
    # mount(8) would resolve /proc/self/fd to the name that has just been covered; mount(2) takes it as it is.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode() if kind else None, flags, None):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


def _bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))  # struct ifreq


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as end:
        _be_first_process(end, **json.loads(sys.argv[2]))
