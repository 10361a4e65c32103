"""What `recall` prints for a person: everything, verbatim, with a line above each part that says what it is."""

from __future__ import annotations

from unified_state.lib.stdlib import dump_json

TYPE_CHECKING = False
if TYPE_CHECKING:
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
