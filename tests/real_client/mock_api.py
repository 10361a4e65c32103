"""A scripted stand-in for the Messages API: it answers the client's requests from queues and remembers them.

Each kind of request has its own queue (`script`); an empty one gives the kind's standing answer (`always`). A step of a
script may be a function of the request: it can look at what was sent, wait, or let something happen first.
Invariant: a request is remembered before it is answered, without its headers, so no key is kept.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from .messages import Failure, Json, Kind, Reply, Request, reply, stream

Answer: TypeAlias = str | Reply | Failure
Step: TypeAlias = Answer | Callable[[Request], Answer]

SUMMARY = (
    "<analysis>\nWhat was done.\n</analysis>\n\n<summary>\n1. Primary Request and Intent:\n   MOCK-SUMMARY\n</summary>"
)


class MockApi:
    """The API on `listener`, a listening socket of the sandbox; served by threads of this process, outside of it."""

    def __init__(self, listener: socket.socket) -> None:
        self.requests: list[Request] = []
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self._scripts: defaultdict[Kind, deque[Step]] = defaultdict(deque)
        self._standing: dict[Kind, Step] = {"compact": SUMMARY, "title": '{"title": "Mock title"}'}
        self._lock = threading.Lock()
        self._server = _Server(listener, self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

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

    def close(self) -> None:
        """Stop serving; what went wrong in a step of a script is raised here."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if self._server.errors:
            message = "the mock API could not answer"
            raise ExceptionGroup(message, self._server.errors)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listener: socket.socket, api: MockApi) -> None:
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.api = api
        self.errors: list[Exception] = []

    def handle_error(self, _request: object, _client_address: object) -> None:
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, ConnectionError):  # a killed client hangs up: fine
            self.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_GET(self) -> None:
        self._send(404, Failure(404, self.path, "not_found_error").body())

    def do_POST(self) -> None:
        body: Json = json.loads(self._body() or b"{}")
        request = Request(self.path.partition("?")[0], body)
        answer = self.server.api.answer(request)
        if isinstance(answer, Failure):
            self._send(answer.status, answer.body())
        elif request.kind == "count_tokens":
            self._send(200, {"input_tokens": answer.input_tokens})
        elif body.get("stream"):
            self._send_events(answer.message(body["model"]))
        else:
            self._send(200, answer.message(body.get("model", "mock")))

    def log_message(self, *_: object) -> None:
        """Nothing goes to stderr."""

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        chunks = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _send(self, status: int, answer: Mapping[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_events(self, message: Json) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in stream(message):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
