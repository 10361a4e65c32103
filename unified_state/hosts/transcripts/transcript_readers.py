"""Support for other hosts: select a transcript reader, recognise a transcript's host, and adapt hook events."""

from __future__ import annotations

from unified_state.hosts.transcripts.rules.hosts import HOSTS, Host, host_of
from unified_state.hosts.transcripts.transcript_lines import Entry, Read, object_in, text_in, without_context
from unified_state.model.hook_event import HookEvent

# Names of hook event fields in other hosts, in addition to Claude Code's.
_SESSION_IDS = ("conversation_id", "sessionId", "sessionID")
_ANSWERS = ("prompt_response", "last_message", "text")


def host_reader(session_id: str) -> Read:
    """Return the reader of a session's transcript. For an unknown format, return one that yields nothing."""
    host = host_of(session_id)
    if host is None or host.transcript is None:
        return lambda _line: iter(())
    reader = __import__(f"{__package__}.{host.transcript}", fromlist=["read_line"])
    read: Read = reader.read_line
    return read


def told_by_host(line: Entry) -> tuple[str, str | None] | None:
    """Return the session and the folder in the first line of another host's transcript, or None for any other line.
    Gemini CLI tells only the SHA-256 of the folder.
    """
    codex_id = text_in(object_in(line, "payload"), "id")
    if line.get("type") == "session_meta" and codex_id:
        return HOSTS["codex"].session_id(codex_id), text_in(line["payload"], "cwd") or None
    if "projectHash" in line and isinstance(line.get("sessionId"), str):
        return HOSTS["gemini"].session_id(line["sessionId"]), text_in(line, "projectHash") or None
    return None


def adapted(event: HookEvent, host: Host, event_name: str) -> HookEvent:
    """Return a host's hook event with our field names and a session id that is unique across hosts."""
    given = event.session_id or next(filter(None, map(event.text, _SESSION_IDS)), "")
    roots = event.extra.get("workspace_roots")
    folder = event.cwd or (str(roots[0]) if isinstance(roots, list) and roots else "")
    answer = event.text("last_assistant_message") or next(filter(None, map(event.text, _ANSWERS)), "")
    extra = {**event.extra, "prompt": without_context(event.text("prompt")), "last_assistant_message": answer}
    if extra.get("source") == "new":
        extra["source"] = "startup"
    return event.replace(hook_event_name=event_name, session_id=host.session_id(given), cwd=folder, extra=extra)
