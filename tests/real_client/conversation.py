"""The client as a program that embeds it sees it: stream-json on stdin and stdout, many turns in one process."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable
from subprocess import Popen
from typing import Protocol, Self

from tests.sandboxed.sandbox import Sandbox

from .messages import Json
from .scenario import STREAM_JSON


class Starts(Protocol):
    """A world that starts the client."""

    sandbox: Sandbox

    def start_client(self, *arguments: str) -> Popen[str]:
        """Start the client, with pipes for all its streams."""


class Conversation:
    """One running client; `events` holds what it has said, as far as it was waited for."""

    def __init__(self, scenario: Starts, *options: str) -> None:
        self.events: list[Json] = []
        self._arrived: queue.SimpleQueue[Json | None] = queue.SimpleQueue()
        self._sandbox = scenario.sandbox
        self._process = scenario.start_client("-p", "--input-format", "stream-json", *STREAM_JSON, *options)
        assert self._process.stdin
        self._input = self._process.stdin
        self._readers = [threading.Thread(target=self._listen), threading.Thread(target=self._drain)]
        for reader in self._readers:
            reader.start()

    def send(self, content: str | list[Json]) -> None:
        """Say something and do not wait."""
        message = {"type": "user", "message": {"role": "user", "content": content}}
        self._input.write(json.dumps(message) + "\n")
        self._input.flush()

    def ask(self, content: str | list[Json], timeout: float = 30) -> list[Json]:
        """Say something and give the events up to the end of the turn, which may take `timeout` seconds an event."""
        self.send(content)
        return self.wait_for(lambda event: event["type"] == "result", timeout)

    def wait_for(self, awaited: Callable[[Json], bool], timeout: float = 30) -> list[Json]:
        """The events from now on, up to the first `awaited` one; an error when none comes in time (seconds)."""
        seen: list[Json] = []
        while not seen or not awaited(seen[-1]):
            event = self._arrived.get(timeout=timeout)
            if event is None:
                message = f"the client ended before the awaited event; the last ones: {seen[-3:]}"
                raise EOFError(message)
            self.events.append(event)
            seen.append(event)
        return seen

    @property
    def session_id(self) -> str:
        """The current session."""
        return next(str(event["session_id"]) for event in reversed(self.events) if "session_id" in event)

    def kill(self) -> None:
        """End the client as a crash does."""
        self._sandbox.kill(self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Say goodbye and wait for the client's end; after an error, kill it."""
        if kind is not None and self._process.poll() is None:
            self.kill()
        with contextlib.suppress(BrokenPipeError):  # the client is gone, and with it what was not yet sent
            self._input.close()
        self._process.wait(timeout=30)
        for reader in self._readers:
            reader.join()

    def _listen(self) -> None:
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in lines:
                self._arrived.put(json.loads(line))
        self._arrived.put(None)

    def _drain(self) -> None:
        """Read on, so that the client never waits for a full pipe."""
        assert self._process.stderr
        with self._process.stderr as lines:
            for _ in lines:
                pass
