"""A client's session as the hooks see it: prompts, turns and a transcript that the client writes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from uuid import uuid4

from .product import Project

SESSION = "0b1f8d3c-5a52-4f0e-9a39-6f2c1f1f2a11"


class Client:
    """A client's session: it writes prompts and answers to a transcript and calls the hooks of each turn."""

    def __init__(self, project: Project, session_id: str = SESSION) -> None:
        self.project, self.session_id = project, session_id
        self.path = project.home / f"{session_id}.jsonl"
        self._newest: str | None = None  # of the transcript's entries

    def hook(self, event: str, part: str = "", /, **fields: object) -> str:
        done = self.project.hook(event, part, session_id=self.session_id, transcript_path=str(self.path), **fields)
        assert (done.code, self.project.log()) == (0, "")
        return done.out

    def asks(self, text: str, *, is_written: bool = True) -> str:
        """Type a prompt; what the hook adds to it."""
        added = self.hook("UserPromptSubmit", prompt=text)
        if is_written:
            self.write("user", text)
        return added

    def stops(self, text: str = "Done.") -> None:
        self.write("assistant", [{"type": "text", "text": text}])
        self.hook("Stop", last_assistant_message=text)

    def write(self, kind: str, content: object, **fields: object) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own, parent = str(uuid4()), None if fields.get("subtype") == "compact_boundary" else self._newest
        self._newest = own
        entry = {
            "type": kind, "uuid": own, "parentUuid": parent, "sessionId": self.session_id, "timestamp": at,
            "message": {"role": kind, "content": content}, **fields,
        }  # fmt: skip
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    @property
    def kept(self) -> list[str]:
        """The messages of the session that wait for the transcript."""
        query = "SELECT text FROM note JOIN session ON session.id = session WHERE session_id = ? AND kind GLOB 'wait*'"
        with closing(sqlite3.connect(self.project.archive)) as archive:
            return [text for (text,) in archive.execute(query, (self.session_id,))]

    @property
    def archived(self) -> list[str]:
        return [step["text"] for step in self.project.export(self.session_id) if step["kind"] == "prompt"]
