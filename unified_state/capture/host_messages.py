"""A conversation that a host hands over message by message, since its transcript is no file that we could read.

It is archived as a transcript is: masked, each part once, and again without harm.
"""

from __future__ import annotations

from unified_state.capture.capture_transcript import Capture, Captured, reader_of
from unified_state.memory.archive.pending_messages import settle_messages
from unified_state.memory.archive.sessions import touch_session
from unified_state.memory.archive.steps import last_turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class MessageCapture(Capture):
    """A run of capturing that is given the messages themselves."""

    def messages(self, messages: list[Any], session_id: str) -> Captured:
        """Capture what is new among the messages of a session."""
        read = reader_of(session_id)
        prepared = [
            self._prepare(found) for message in messages if isinstance(message, dict) for found in read(message)
        ]
        if not prepared:
            return Captured()
        with self._archive.transaction(durable=False):
            session = touch_session(self._archive, session_id, self._now)
            newest = last_turns(self._archive, session, 1)
            writer = self._write(prepared, session, newest[0] if newest else None)
        settle_messages(self._archive, session_id, self._now)
        return Captured(writer.added)
