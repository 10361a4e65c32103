"""An API that tests script, served on a sandbox's loopback by threads of this process, outside of the sandbox.

What a model answers is the business of who derives from `ScriptedApi`; here is how it is served.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Response:
    """What goes over the wire."""

    text: str
    status: int = 200
    content_type: str = "application/json"


def json_response(value: Json, status: int = 200) -> Response:
    """One value."""
    return Response(json.dumps(value), status)


def events_response(events: Iterable[Json], ending: str = "") -> Response:
    """Events as they are streamed, each by the name of its type if it has one."""
    named = ((f"event: {event['type']}\n" if "type" in event else "", event) for event in events)
    text = "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in named)
    return Response(text + ending, content_type="text/event-stream")


class ScriptedApi(ABC):
    """An API on `listener`, a listening socket of the sandbox."""

    def __init__(self, listener: socket.socket) -> None:
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self._server = _Server(listener, self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @abstractmethod
    def respond(self, path: str, body: Json | None) -> Response:
        """The response to a POST, or to a GET, which has no body. It is called in several threads at once."""

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

    def __init__(self, listener: socket.socket, api: ScriptedApi) -> None:
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
        self._send(Response(""))

    def do_GET(self) -> None:
        self._send(self.server.api.respond(self.path, None))

    def do_POST(self) -> None:
        self._send(self.server.api.respond(self.path, json.loads(self._body() or b"{}")))

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

    def _send(self, response: Response) -> None:
        data = response.text.encode()
        self.send_response(response.status)
        self.send_header("content-type", response.content_type)
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(data)
