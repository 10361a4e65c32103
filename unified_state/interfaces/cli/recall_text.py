"""What `recall` prints for a person: everything, verbatim, with a line above each part that says what it is."""

from __future__ import annotations

from unified_state.lib.stdlib import dump_json
from unified_state.lib.text import cut, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def recall_text(found: dict[str, Any]) -> str:
    """The text of what `recall` found."""
    match found["kind"]:
        case "turn":
            of_agent = f", subagent {found['agent']}" if found.get("agent") else ""
            head = f"{found['ref']}  session {found['session_id']}{of_agent}  {found['timestamp']}"
            return "\n\n".join([head, *map(_step, found["steps"])])
        case "compaction":
            return _compaction(found)
        case _:
            return _item(found) if "body" in found else _step(found)


def _item(item: dict[str, Any]) -> str:
    said = [f"{item['status']}, {item['origin']}, {item['created_at']}"]
    said += [f"superseded by {item['superseded_by']}"] if item.get("superseded_by") else []
    said += [f"session {item['session_id']}"] if item.get("session_id") else []
    said += [f"at {item['commit'][:10]} on {item['branch'] or 'a detached HEAD'}"] if item.get("commit") else []
    said += [f"{link['relation']} {link['ref']}" for link in item["links"]]
    said += [f"another {item['ref']} is {alias} now" for alias in item.get("also", ())]
    fields = [f"{name}: {value}" for name, value in item["body"].items()]
    return "\n".join([f"{item['ref']}  {'; '.join(said)}", *fields])


def _step(step: dict[str, Any]) -> str:
    tool = f" {step['tool']}" if step.get("tool") else ""
    error = " (error)" if step.get("is_error") else ""
    content = dump_json(step["input"]) if "input" in step else step.get("result", step.get("text", ""))
    part = f" {_part(step['part'])}" if "part" in step else ""
    return f"--- {step['ref']} {step['kind']}{tool}{error} {step['timestamp']}{part}\n{content}"


def _part(part: dict[str, Any]) -> str:
    which = f"lines {part['first']:,}:{part['last']:,} of {part['lines']:,}"
    if "grep" not in part:
        return which
    rest = f", the first {part['shown']:,} shown" if part["shown"] < part["matches"] else ""
    return f"{part['matches']:,} of {which} match{rest}"


def _compaction(found: dict[str, Any]) -> str:
    what = f"{found['trigger'] or 'unknown'} compaction of session {found['session_id']}"
    head = f"{found['ref']}  {what}  {found['timestamp']}"
    parts = [head, f"--- summary\n{found['summary'] or 'not known'}"]
    for restored in found["restored"]:
        arrived = "delivered" if restored["delivered"] else "not seen in the transcript"
        parts.append(f"--- restored {restored['part']} ({arrived})\n{restored['text']}")
    return "\n\n".join(parts)


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
