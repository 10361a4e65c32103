"""A scripted stand-in for the Messages API: it answers the client's requests from queues and remembers them.

Each kind of request has its own queue (`script`); an empty one gives the kind's standing answer (`always`). A step of a
script may be a function of the request: it can look at what was sent, wait, or let something happen first.
Invariant: a request is remembered before it is answered, without its headers, so no key is kept.
"""

from __future__ import annotations

import socket
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from typing import TypeAlias

from tests.sandboxed.scripted_api import Json, Response, ScriptedApi, events_response, json_response

from .messages import Failure, Kind, Reply, Request, reply, stream

Answer: TypeAlias = str | Reply | Failure
Step: TypeAlias = Answer | Callable[[Request], Answer]

SUMMARY = (
    "<analysis>\nWhat was done.\n</analysis>\n\n<summary>\n1. Primary Request and Intent:\n   MOCK-SUMMARY\n</summary>"
)


class MockApi(ScriptedApi):
    """The API of the client's vendor."""

    def __init__(self, listener: socket.socket) -> None:
        self.requests: list[Request] = []
        self._scripts: defaultdict[Kind, deque[Step]] = defaultdict(deque)
        self._standing: dict[Kind, Step] = {"compact": SUMMARY, "title": '{"title": "Mock title"}'}
        self._lock = threading.Lock()
        super().__init__(listener)

    def script(self, kind: Kind, *steps: Step) -> None:
        """What the next requests of this kind get, in order."""
        with self._lock:
            self._scripts[kind].extend(steps)

    def always(self, kind: Kind, step: Step) -> None:
        """What requests of this kind get when nothing is left of their script."""
        self._standing[kind] = step

    def of(self, kind: Kind) -> list[Request]:
        """The requests of this kind, in the order they came in."""
        return [request for request in self.requests if request.kind == kind]

    def kinds(self) -> list[Kind]:
        """The kinds of all requests, in the order they came in."""
        return [request.kind for request in self.requests]

    def answer(self, request: Request) -> Reply | Failure:
        """The answer to one request, which is remembered."""
        kind = request.kind
        with self._lock:
            self.requests.append(request)
            script = self._scripts[kind]
            step = script.popleft() if script else self._standing.get(kind, "ok")
        given = step(request) if callable(step) else step
        return reply(given) if isinstance(given, str) else given

    def respond(self, path: str, body: Json | None) -> Response:
        """The answer as it goes over the wire."""
        if body is None:
            missing = Failure(404, path, "not_found_error")
            return json_response(missing.body(), missing.status)
        request = Request(path.partition("?")[0], body)
        answer = self.answer(request)
        if isinstance(answer, Failure):
            return json_response(answer.body(), answer.status)
        if request.kind == "count_tokens":
            return json_response({"input_tokens": answer.input_tokens})
        if body.get("stream"):
            return events_response(stream(answer.message(body["model"])))
        return json_response(answer.message(body.get("model", "mock")))
