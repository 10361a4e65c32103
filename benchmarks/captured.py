"""How much of what a session holds is captured: counted from the raw transcripts by rules of its own, fact by fact.

    python -m benchmarks.captured FOLDER

Nothing of the product's reading is used for the count: what the client writes beside a result (`toolUseResult`,
`planContent`) is read where there is some, and regular expressions elsewhere.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unified_state.archive.archive import Archive
from unified_state.capture.capture_transcript import Capture
from unified_state.ledger.item_table import selected_items
from unified_state.model.hook_event import Moment
from unified_state.secrets.masker import Masker

Entry = dict[str, Any]
KINDS = ("answers", "plans", "errors", "refusals", "commits", "pull requests", "to do")
RULES = {
    "answer": "answers",
    "approved plan": "plans",
    "rejected plan": "plans",
    "error": "errors",
    "refused call": "refusals",
    "commit": "commits",
    "pull_request": "pull requests",
}
COMMIT_LINE = re.compile(r"^\[(?:\S+|detached HEAD)(?: \(root-commit\))? [0-9a-f]{7,64}\] ", re.MULTILINE)
COMMITS = re.compile(r"(?:^|[\s;&|(])git(?:\s+-[cC]\s+\S+)*\s+(?:commit|cherry-pick|revert)\b")
PULL_REQUEST = re.compile(r"^https://\S+/(?:pull|merge_requests)/\d+\s*$", re.MULTILINE)
REFUSED = "The user doesn't want to proceed with this tool use."


def entries(path: Path) -> Iterator[Entry]:
    """The entries of a transcript that can be read."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                yield entry


def counted(path: Path) -> Counter[tuple[str, str]]:
    """The facts of a transcript: how many of each kind each entry holds; the agent's list as it stands at the end."""
    facts: Counter[tuple[str, str]] = Counter()
    calls: dict[str, Entry] = {}
    todos: dict[str, tuple[str, str]] = {}
    for entry in entries(path):
        if isinstance(entry.get("planContent"), str):
            facts["plans", entry["uuid"]] += 1
        message = entry.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_use":
                calls[block["id"]] = block
            elif block.get("type") == "tool_result":
                call = calls.get(block.get("tool_use_id"), {"name": "", "input": {}})
                _count_result(entry, block, call, facts)
                if not block.get("is_error") and not entry.get("isSidechain"):
                    _follow_list(call, entry.get("toolUseResult"), todos)
    for text, state in todos.values():
        facts["to do", f"{state}: {text}"] += 1
    return facts


def _count_result(entry: Entry, block: Entry, call: Entry, facts: Counter[tuple[str, str]]) -> None:
    uuid, told = entry["uuid"], entry.get("toolUseResult")
    given = block.get("content")
    text = given if isinstance(given, str) else "\n".join(part.get("text", "") for part in given or [])
    command = str(call["input"].get("command", ""))
    if block.get("is_error"):
        refused = text.startswith(REFUSED)
        kind = "plans" if call["name"] == "ExitPlanMode" and refused else "refusals" if refused else "errors"
        facts[kind, uuid] += 1
    elif call["name"] == "AskUserQuestion" and isinstance(told, dict):
        facts["answers", uuid] += len(told.get("answers") or {})
    elif call["name"] == "ExitPlanMode" and text.startswith("User has approved"):
        facts["plans", uuid] += 1
    elif COMMITS.search(command):
        facts["commits", uuid] += len(COMMIT_LINE.findall(text))
    if not block.get("is_error") and "gh pr create" in command and PULL_REQUEST.search(text):
        facts["pull requests", uuid] += 1


def _follow_list(call: Entry, told: object, todos: dict[str, tuple[str, str]]) -> None:
    if not isinstance(told, dict):
        return
    if call["name"] == "TodoWrite":
        todos.clear()
        new = told.get("newTodos") or []
        todos.update({str(number): (todo["content"], todo["status"]) for number, todo in enumerate(new)})
    elif call["name"] == "TaskCreate":
        task = told.get("task") or {}
        todos[str(task.get("id"))] = (str(task.get("subject")), "pending")
    elif call["name"] == "TaskUpdate" and told.get("statusChange"):
        key = str(told.get("taskId"))
        todos[key] = (todos.get(key, ("", ""))[0], told["statusChange"]["to"])


def captured(path: Path, folder: str) -> Counter[tuple[str, str]]:
    """The same facts as the product captured them from the transcript."""
    facts: Counter[tuple[str, str]] = Counter()
    with Archive(f"{folder}/{path.name}.db") as archive:
        Capture(archive, Masker(folder, enabled=False), Moment(0)).transcript(str(path), path.stem, to_end=True)
        for item in selected_items(archive, "WHERE rule NOT NULL ORDER BY id"):
            if item.rule in RULES:
                facts[RULES[item.rule], item.source_uuid or ""] += 1
        for state, text in archive.rows("SELECT state, text FROM note WHERE kind = 'todo'"):
            facts["to do", f"{state}: {text}"] += 1
    return facts


def main() -> None:
    """Print a table, and every fact that only one of the two knows; exit 1 where one was missed."""
    (data,) = sys.argv[1:]
    in_files, missed, more = Counter[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(Path(data).glob("*.jsonl")):
            here, ours = counted(path), captured(path, folder)
            for kind, key in here | ours:
                in_files[kind] += here[kind, key]
                missed[kind] += max(0, here[kind, key] - ours[kind, key])
                more[kind] += max(0, ours[kind, key] - here[kind, key])
                if here[kind, key] != ours[kind, key]:
                    print(f"{path.name}: {kind} {key}: {here[kind, key]} in the file, {ours[kind, key]} captured")
    print(f"{'kind':14} {'in the files':>12} {'captured':>9} {'missed':>7} {'more':>5}")
    for kind in KINDS:
        print(f"{kind:14} {in_files[kind]:12} {in_files[kind] - missed[kind]:9} {missed[kind]:7} {more[kind]:5}")
    sys.exit(bool(missed.total()))


if __name__ == "__main__":
    main()
