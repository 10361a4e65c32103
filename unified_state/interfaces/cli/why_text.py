"""What `why` prints for a person: who said an item, in which words, in which turn, and how it stands now."""

from __future__ import annotations

from unified_state.lib.stdlib import dump_json
from unified_state.lib.text.truncate import cut, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_ORIGINS = {"user_said": "the user said it", "observed": "it was observed", "inferred": "a model inferred it"}
_CHARACTERS, _NAME_WIDTH = 300, 10


def why_text(found: dict[str, Any]) -> str:
    """The text of what `explain` found."""
    return "\n".join(f"{name:<{_NAME_WIDTH}} {text}" if name else text for name, text in _lines(found))


def _lines(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    where = f" at {found['commit'][:10]} on {found['branch'] or 'a detached HEAD'}" if found["commit"] else ""
    yield found["ref"], f"{found['kind']}, {found['status']}: {_ORIGINS[found['origin']]}, {found['created_at']}{where}"
    yield from ((name, _short(str(value))) for name, value in found["body"].items())
    if found["quote"] is not None:
        yield "quote", f'"{_short(found["quote"])}"'
        yield "", f"{'':<{_NAME_WIDTH}} SHA-256 {found['quote_hash']}"
    yield "taken from", _source(found)
    turn = found["turn"]
    if turn:
        yield "turn", f"{turn['ref']} of session {found['session_id']}"
        yield from ((line["ref"], f"{line['kind']}: {_content(line)}") for line in _steps(turn))
    yield from (("link", _link(link)) for link in found["links"])
    yield "now", found["validity"]["text"]
    yield from (("fault", fault) for fault in found["faults"])


def _source(found: dict[str, Any]) -> str:
    by = f", captured by the rule {found['rule']}" if found["rule"] else ""
    summary = f", read from the summary of {found['compaction']}" if found["compaction"] else ""
    if found["source_uuid"]:
        return f"entry {found['source_uuid']}{by}{summary}"
    if found["origin"] == "user_said":
        return f"the user's own terminal{by}{summary}"
    return f"no archived entry{by}{summary}" if by or summary else "a program; no archived entry has its words"


def _steps(turn: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for step in (turn["prompt"], turn["step"]) if step]


def _content(line: dict[str, Any]) -> str:
    return _short(dump_json(line["input"]) if "input" in line else line.get("result", line.get("text", "")))


def _link(link: dict[str, Any]) -> str:
    if link["isFrom"]:
        return f"{link['relation']} {link['ref']} ({link['status']})"
    return f"{link['ref']} ({link['status']}) {link['relation']} it"


def _short(text: str) -> str:
    return cut(one_line(text), _CHARACTERS)
