"""What the user refused: a tool call that did not run, with the user's own words if they said how to go on."""

from __future__ import annotations

_REFUSED = "The user doesn't want to proceed with this tool use."
_SAID = "the user said:\n"
_NOTES = "\n\nNote: The user's next message may contain a correction or preference."
# Results of calls that did not run, or were broken off, for no fault of theirs.
_NOT_RUN = (
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled",
    "[Request interrupted by user",
    "Interrupted by user",
)


def refusal(result: str) -> str | None:
    """The user's reason where they refused the call, empty where they gave none; None where it was no refusal."""
    if not result.startswith(_REFUSED):
        return None
    _, found, said = result.partition(_SAID)
    return said.partition(_NOTES)[0].strip() if found else ""


def did_not_run(result: str) -> bool:
    """Whether a call was never carried out, so that its result tells nothing of what it would have done."""
    return result.startswith(_NOT_RUN)
