"""What another host tells a hook on stdin, as an event of ours. The names vary; what is missing is empty."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.agents.transcripts.rules.hosts import Host
    from unified_state.model.hook_event import HookEvent

_SESSION_IDS = ("conversation_id", "sessionId", "sessionID")
_ANSWERS = ("prompt_response", "last_message", "text")
_CONTEXT_ENDS = "</hook_context>"  # Gemini CLI puts what a hook said at the start of a session before the first prompt


def adapted(event: HookEvent, host: Host, event_name: str) -> HookEvent:
    """The event by our names, its session under an id that only this host has."""
    given = event.session_id or next(filter(None, map(event.text, _SESSION_IDS)), "")
    roots = event.extra.get("workspace_roots")
    folder = event.cwd or (str(roots[0]) if isinstance(roots, list) and roots else "")
    answer = event.text("last_assistant_message") or next(filter(None, map(event.text, _ANSWERS)), "")
    extra = {**event.extra, "prompt": without_context(event.text("prompt")), "last_assistant_message": answer}
    if extra.get("source") == "new":
        extra["source"] = "startup"
    return event.replace(hook_event_name=event_name, session_id=host.session_id(given), cwd=folder, extra=extra)


def without_context(prompt: str) -> str:
    """A prompt without the text that a hook put before it."""
    while prompt.startswith("<hook_context>"):
        _, found, prompt = prompt.partition(_CONTEXT_ENDS)
        if not found:
            return ""
        prompt = prompt.lstrip("\n")
    return prompt
