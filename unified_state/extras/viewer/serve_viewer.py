"""The viewer's server: on this machine alone, until Ctrl-C, or until nobody has used it for an hour."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from unified_state.errors import StorageError
from unified_state.extras.viewer.open_projects import Project
from unified_state.extras.viewer.viewer_app import ViewerApp
from unified_state.extras.viewer.viewer_guard import Guard
from unified_state.settings import environment

UNUSED_SECONDS = 3600.0
_LOOK_SECONDS = 0.5
_HOST, _BACKLOG = "127.0.0.1", 128


def serve_viewer(
    projects: dict[str, Project],
    *,
    port: int,
    may_change: bool,
    opens_browser: bool,
    say: Callable[[str], None],
    path: str = "/",
    unused_seconds: float = UNUSED_SECONDS,
) -> None:
    """Serve the pages of projects. `port` 0 takes a free one. `say` gets the address. Raises StorageError if the port
    is taken.
    """
    with _listen(port) as listening:
        port = listening.getsockname()[1]
        base = projects[""].base
        guard = Guard(ViewerApp(projects, may_change=may_change).app(), port, base[1:])
        config = uvicorn.Config(guard, log_level="warning", access_log=False, server_header=False, lifespan="off")
        server = uvicorn.Server(config)
        with suppress(KeyboardInterrupt), asyncio.Runner() as runner:
            runner.get_loop()  # one that is interrupted while it is made complains
            # From here on Ctrl-C only sets a flag, as uvicorn does while it serves. `Runner.run` would raise at some of
            # its lines and cancel at others.
            handler = signal.signal(signal.SIGINT, lambda *_: setattr(server, "should_exit", True))
            try:
                say(f"http://{_HOST}:{port}{base}{path}")
                if opens_browser and _has_screen():
                    # Every program sees the arguments of the browser's process, so what stands there opens once.
                    webbrowser.open(f"http://{_HOST}:{port}/{guard.single_use_secret()}{path}")
                runner.run(_serve(server, listening, guard, unused_seconds))
            finally:
                signal.signal(signal.SIGINT, handler)


def _has_screen() -> bool:
    """Return whether there is a screen for a browser. One in the terminal would be in the way of questions there."""
    variables = environment()
    return sys.platform in {"darwin", "win32"} or bool(variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY"))


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_HOST, port))
        listening.listen(_BACKLOG)  # the browser may come before the application runs
    except OSError as error:
        listening.close()
        message = f"port {port} of {_HOST} cannot be used: {error.strerror}"
        raise StorageError(message, "choose another one with --port, or leave it out") from error
    return listening


async def _serve(server: uvicorn.Server, listening: socket.socket, guard: Guard, unused_seconds: float) -> None:
    """Serve until the server ends, and end it once nobody has used it for long."""
    running = asyncio.create_task(server.serve(sockets=[listening]))
    while not running.done():
        await asyncio.wait([running], timeout=_LOOK_SECONDS)
        if server.should_exit or time.monotonic() - guard.used_at > unused_seconds:
            server.should_exit = True
    await running
