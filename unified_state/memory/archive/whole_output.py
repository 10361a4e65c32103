"""What the archive keeps of an output that was archived before the transcript had it, once its entry is there."""

from __future__ import annotations


def whole_of(seen: str, archived: str, ref: str, shown: int) -> str | None:
    """The whole of what the model was given; `seen` is the transcript's entry, `shown` the length of the short form.
    None where the entry is about something else, so that both are kept.

    The client may say something before it and behind it; it all goes behind, so that lines keep the numbers that the
    short form names. An entry without our handle is the whole itself: the hook was killed before it could answer.
    """
    at = seen.find(f"[{ref}: ")
    if at < 0:
        return seen if archived.strip() in seen else None
    before, behind = seen[:at].strip(), seen[at + shown :]
    added = behind if behind.startswith("\n") else ""
    return archived + added + (f"\n\n{before}" if before else "")
