"""Lines of a transcript. Whatever stands before it, a sound turn behind it is archived."""

from __future__ import annotations

import json

from tests.acceptance.transcripts import Transcript
from tests.campaign.kind import Kind, expect
from tests.campaign.world import SESSION, World

_PROMPT, _ANSWER = "A sound prompt after all that", "A sound answer after all that"


def seeds() -> list[bytes]:
    """What the client writes: turns, a compaction, subagents, plans, lists, edits and errors."""
    written = Transcript(SESSION, seed=5)
    written.prompt("Always use tabs. The token is @TOKEN@", promptId="p1")
    written.says({"type": "thinking", "thinking": "hm @TOKEN@", "signature": "x"}, {"type": "text", "text": "Yes."})
    written.call("Bash", {"command": "pytest -q && export A_TOKEN=@TOKEN@"}, "E  assert 1\n1 failed", error=True)
    written.call("Edit", {"file_path": "/home/dev/project/a.py", "old_string": "1", "new_string": "2"}, "done")
    written.call("ExitPlanMode", {"plan": "# Plan\n1. Keep tabs"}, "User has approved your plan")
    written.call("AskUserQuestion", {"questions": [{"question": "Which port?"}]}, 'answered: "Which port?"="8080"')
    written.call("TodoWrite", {"todos": [{"content": "a", "status": "pending"}]}, "ok")
    other = Transcript(SESSION, seed=6)
    other.turn(1)
    other.compaction("We keep tabs. @TOKEN@", "auto")
    other.prompt([{"type": "text", "text": "look"}, {"type": "image", "source": {"type": "base64", "data": "AA=="}}])
    other.call("Task", {"prompt": "look", "subagent_type": "Explore"}, [{"type": "text", "text": "found"}])
    other.entry("attachment", attachment={"type": "queued_command", "prompt": "and more"})
    other.entry("system", subtype="local_command", content="<command-name>/x</command-name>")
    other.raw({"type": "summary", "summary": "s", "leafUuid": "u"})
    other.raw({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}})
    pieces = [written.content, other.content]
    return [*pieces, *(line for piece in pieces for line in piece.splitlines(keepends=True)), b"{}\n", b"torn {"]


def meet(world: World, data: bytes) -> None:
    """The lines are archived in two pieces, then a sound turn."""
    half = data.rfind(b"\n", 0, len(data) // 2) + 1
    world.transcript.write_bytes(data[:half])
    world.hook("UserPromptSubmit", prompt="go on")
    sound = Transcript(SESSION, seed=7)
    sound.prompt(_PROMPT)
    sound.text(_ANSWER)
    world.transcript.write_bytes(data + b"\n" + sound.content)
    world.hook("Stop")
    world.hook("UserPromptSubmit", prompt="go on")
    exported = world.run("export", codes=(0,)).out
    texts = [json.loads(line).get("text") for line in exported.splitlines()]
    expect(_PROMPT in texts, f"a sound prompt is not archived: {texts[-5:]}")
    expect(_ANSWER in texts, f"a sound answer is not archived: {texts[-5:]}")
    world.hook("SessionStart", "brief", source="compact")
    world.hook("SessionStart", "working_set", source="compact")
    world.check_nothing_lost()


KIND = Kind(
    "transcript lines", seeds, meet,
    ("isSidechain", "isMeta", "isCompactSummary", "parentUuid", "logicalParentUuid", "timestamp", "sessionId", "s",
     "message", "content", "tool_use_id", "toolUseResult", "compact_boundary", "attachment", "agentId", "type"),
)  # fmt: skip
