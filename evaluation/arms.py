"""The arms of the experiment: what a session is given after a compaction, beside the client's summary."""

from __future__ import annotations

from evaluation.arm_hook import SECTIONS, without

BARE, PLACEBO, TAIL, NATIVE, GREP, OURS = "bare", "placebo", "tail", "native", "grep", "unified-state"
WORKING_SET, AT_THE_PROMPT, AT_THE_ACTION = "working-set", "at-the-prompt", "at-the-action"
PARTS = ("rules", WORKING_SET, "found", AT_THE_PROMPT, AT_THE_ACTION)
ABLATIONS = tuple(f"no-{part}" for part in PARTS)
ARMS = (BARE, PLACEBO, TAIL, NATIVE, GREP, OURS, *ABLATIONS)


def known_arms(given: str) -> list[str]:
    """Return the arms that a user names, separated by blanks or commas. Raise ValueError for an unknown one."""
    named = given.replace(",", " ").split() or list(ARMS)
    if unknown := [name for name in named if name not in ARMS]:
        message = f"no arm {', '.join(unknown)}; there are {', '.join(ARMS)}"
        raise ValueError(message)
    return list(dict.fromkeys(named))


def is_ours(arm: str) -> bool:
    """Whether unified-state runs in an arm, whole or without a part."""
    return arm == OURS or arm in ABLATIONS


def ablated(part: str, brief: str, working_set: str, prompt: str, call: str) -> list[str]:
    """Return the four texts of unified-state without one part ("" for none)."""
    sections = () if part == WORKING_SET else SECTIONS.get(part, ())
    return [
        without(brief, sections),
        "" if part == WORKING_SET else without(working_set, sections),
        "" if part == AT_THE_PROMPT else prompt,
        "" if part == AT_THE_ACTION else call,
    ]
