"""Writes `transcripts/`: made-up sessions in the shapes of the real client's files. Run by name it writes them anew."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.transcripts import Json, Transcript

FOLDER = Path(__file__).parent / "transcripts"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def tools() -> dict[str, bytes]:
    """What a session holds beside plain text: parallel calls, errors, images, queued prompts, notes of the client."""
    written = Transcript("10000000-0000-4000-8000-000000000001")
    written.raw({"type": "queue-operation", "operation": "enqueue", "content": "fix the parser"})
    written.prompt("fix the parser; it fails on “naïve” input 🐘\n\n    indented\ttabbed\r\n")
    written.raw({"type": "file-history-snapshot", "messageId": "x", "snapshot": {"trackedFileBackups": {}}})
    written.entry("attachment", attachment={"type": "skill_listing", "content": "- dataviz: draws charts"})
    written.says(_text("Let me look."), *(_call(n, "Read", {"file_path": f"/src/{n}.py"}) for n in range(3)))
    for number in range(3):
        written.entry("user", message={"role": "user", "content": [_result(number, f"line {number}\n")]})
    written.raw({"type": "api-request-blob", "hash": "0", "message": {"role": "user", "content": "fix the parser"}})
    written.raw({"type": "progress", "toolUseID": "toolu_0", "data": {"type": "bash_progress", "output": "line 0"}})
    parts: list[Json] = [_text("a shot:"), _image(), _text("of the page")]
    written.call("mcp__browser__screenshot", {"url": "http://localhost:3000", "full": True, "n": None}, parts)
    written.call("Bash", {"command": "exit 3", "description": "失敗する"}, "Exit code 3\n失敗", error=True)
    written.call("Bash", {"command": "true"}, "")
    queued = {"type": "queued_command", "prompt": "also the lexer, please", "commandMode": "prompt"}
    written.entry("attachment", attachment=queued)
    written.says({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, _text("Done: parser and lexer."))
    written.prompt([_text("and this?"), _image()])
    written.prompt([_text("[Request interrupted by user]")])
    written.raw({"type": "last-prompt", "prompt": "and this?"})
    written.raw(
        {"type": "from-the-future", "uuid": "20000000-0000-4000-8000-000000000001", "message": {"content": "?"}}
    )
    return {"tools.jsonl": written.content}


def compactions() -> dict[str, bytes]:
    """A session that was compacted by hand, by itself, and went on."""
    written = Transcript("10000000-0000-4000-8000-000000000002")
    for number, trigger in enumerate(("manual", "auto", "manual")):
        for turn in range(4):
            written.turn(4 * number + turn, size=400)
        caveat = "<local-command-caveat>The command below was run directly</local-command-caveat>"
        if trigger == "manual":
            written.prompt(caveat, isMeta=True)
            written.prompt("<command-name>/compact</command-name>\n<command-args>keep the paths</command-args>")
        written.compaction(f"1. Primary request: turn {4 * number}", trigger)
    written.turn(12)
    return {"compactions.jsonl": written.content}


def clear() -> dict[str, bytes]:
    """A session that was left with /clear, and the one that followed it."""
    before = Transcript("10000000-0000-4000-8000-000000000003")
    after = Transcript("10000000-0000-4000-8000-000000000004")
    before.turn(1)
    after.prompt("<command-name>/clear</command-name>", isMeta=False)
    after.entry("system", subtype="local_command", content="<local-command-stdout></local-command-stdout>")
    after.turn(2)
    return {"before-clear.jsonl": before.content, "after-clear.jsonl": after.content}


def forks() -> dict[str, bytes]:
    """A session, one that was forked from it, and one that was forked from that."""
    parent = Transcript("10000000-0000-4000-8000-000000000005")
    parent.turn(1)
    parent.turn(2)
    child = parent.fork("10000000-0000-4000-8000-000000000006")
    parent.turn(3)
    child.turn(4)
    grandchild = child.fork("10000000-0000-4000-8000-000000000007")
    child.turn(5)
    grandchild.turn(6)
    return {"parent.jsonl": parent.content, "child.jsonl": child.content, "grandchild.jsonl": grandchild.content}


def subagent() -> dict[str, bytes]:
    """A session with a subagent's transcript and a long result in a file of its own."""
    name = "10000000-0000-4000-8000-000000000008"
    written, agent = Transcript(name), Transcript(name, seed=1)
    written.turn(1)
    use = written.call("Bash", {"command": "cat everything"}, "<persisted-output>see the file</persisted-output>")
    agent.entry("user", message={"role": "user", "content": "Say hi"}, isSidechain=True, agentId="a1b2")
    agent.text("Hi.", isSidechain=True, agentId="a1b2")
    written.call("Agent", {"description": "greet", "prompt": "Say hi"}, "Hi.")
    written.prompt(
        "<task-notification>\n<task-id>a1b2</task-id>\n</task-notification>", origin={"kind": "task-notification"}
    )
    written.text("The agent said hi.")
    return {
        f"{name}.jsonl": written.content,
        f"{name}/subagents/agent-a1b2.jsonl": agent.content,
        f"{name}/tool-results/{use}.txt": b"everything, line by line\n" * 40,
    }


def torn() -> dict[str, bytes]:
    """A session whose client was killed in the middle of a line, and whose disk was not the best."""
    written = Transcript("10000000-0000-4000-8000-000000000009")
    written.turn(1)
    written.raw(written.lines[-1][:200])
    written.prompt("half an emoji \ud83d and a NUL \0")
    written.raw(b'{"type":"user","uuid":"caf\xe9","message":{"role":"user","content":"caf\xe9"}}')
    written.raw(b"\0" * 512)
    written.turn(2)
    half = Transcript("10000000-0000-4000-8000-000000000009", seed=1)
    half.turn(3)
    return {"torn.jsonl": written.content + half.content[:-30]}


SESSIONS = (tools, compactions, clear, forks, subagent, torn)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _image() -> Json:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


def _call(number: int, tool: str, given: object) -> Json:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given}


def _result(number: int, content: str) -> Json:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content}


if __name__ == "__main__":
    for session in SESSIONS:
        for name, content in session().items():
            (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
            (FOLDER / name).write_bytes(content)
