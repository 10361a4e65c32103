"""A state file that this archive did not write is foreign as a whole: a mark stands in every text that its schema
allows, and comes out nowhere as this project's, but in the inbox; until the user takes the file over.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from mcp import Client

from unified_state.context.status_line_data import glance_at
from unified_state.interfaces.mcp.mcp_server import Server
from unified_state.interfaces.mcp.server_project import Project as Served
from unified_state.project.place import locate
from unified_state.settings import load_settings

from .product import SCHEMA, Project
from .transcripts import Transcript

MARK = re.compile(r"zqmark\d+zq")
WORD = "seaweed"  # stands beside each mark, and is what the session is about
NEWER = "fromTheFuture"
IDS = {
    "version": "3.2.0", "decisions.0.id": "D1", "constraints.0.id": "C1", "openQuestions.0.id": "Q1",
    "evidenceLedger.0.id": "E1", "failedAttempts.0.id": "A1",
}  # fmt: skip
# What describes the moment at which the file was written, and what this version does not know. It is no memory: nothing
# shows it, and nobody can accept it.
OF_THE_MOMENT = re.compile(
    r"(\w+\.\d+\.)?(timestamp|resolvedAt)|updatedAt|repository|(git|tokenMetrics)\.[\w.]+"
    rf"|sessions\.\w+\.(branch|commit|updatedAt)|([\w.]+\.)?{NEWER}|sd\.\w+"
    r"|([\w.]+\.)?verified\.0"  # refs of evidence, which name other items in another archive
)
STARTS = ("startup", "resume", "clear", "compact", "fork")
READERS = (
    ("load",), ("load", "--json"), ("status",), ("status", "--json"), ("work",), ("work", "--json"), ("preview",),
    ("preview", "--startup"), ("preview", "--prompt", WORD), ("save", "--compact-line"), ("age",), ("validate",),
    ("context",), ("compactions",), ("decision", "list"), ("constraint", "list", "--json"), ("question", "list"),
    ("evidence", "list"), ("attempt", "list"), ("search", "--json", WORD), ("diff", "2026-01-01"),
)  # fmt: skip


class Marks:
    """A state file with a mark in every text, made from the schema; `paths` has the field of each mark."""

    def __init__(self) -> None:
        self.schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        self.paths: dict[str, str] = {}
        self.state = self._object(self.schema, "")

    def memory(self) -> dict[str, str]:
        """The marks of what is memory, by their fields."""
        return {path: mark for mark, path in self.paths.items() if not OF_THE_MOMENT.fullmatch(path)}

    def _object(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        fields = {name: self._value(part, f"{path}.{name}".lstrip(".")) for name, part in schema["properties"].items()}
        if schema.get("title") != "Scope" and not path.endswith("scope") and not path.startswith("sessions"):
            fields[NEWER] = self._mark(f"{path}.{NEWER}".lstrip("."))
        return fields

    def _value(self, schema: dict[str, Any], path: str) -> Any:
        schema = schema.get("anyOf", [schema])[0]
        if "$ref" in schema:
            schema = self.schema["$defs"][schema["$ref"].rpartition("/")[2]]
        if "enum" in schema:
            return schema["enum"][0]
        if "properties" in schema:
            return self._object(schema, path)
        match schema["type"]:
            case "string":
                return IDS[path] if path in IDS else self._mark(path)
            case "array":
                return [self._value(schema["items"], f"{path}.0")]
            case "object":
                return {"other": self._value(schema["additionalProperties"], f"{path}.other")}
            case kind:
                return {"boolean": True, "integer": 7, "number": 0.5}[kind]

    def _mark(self, path: str) -> str:
        mark = f"zqmark{len(self.paths)}zq"
        self.paths[mark] = path
        return f"{mark} {WORD}"


@pytest.fixture
def marks() -> Marks:
    return Marks()


@pytest.fixture
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project as the current folder of this process."""
    monkeypatch.chdir(project.folder)
    project.state_path.parent.mkdir()
    return project


@pytest.fixture
def printed(here: Project) -> Callable[..., str]:
    """What a command prints."""

    def show(*arguments: str) -> str:
        done = here.run(*arguments)
        return done.out + done.err

    return show


def hooked(project: Project, name: str, part: str = "", **fields: Any) -> str:
    """What a hook answers. It must go well."""
    done = project.hook(name, part, transcript_path=str(project.folder.parent / "s.jsonl"), **fields)
    assert (done.code, project.log()) == (0, "")
    return done.out


def written(project: Project) -> None:
    """A session about what the marked texts are about, so that it would be given them."""
    session = Transcript("s")
    session.prompt(f"What about the {WORD}?")
    session.text("I look.")
    task = {"description": "a task", "prompt": f"Look for {WORD}.", "subagent_type": "general-purpose"}
    session.says({"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": task})
    session.write(project.folder.parent / "s.jsonl")


def asked_by_mcp(project: Project) -> Iterator[str]:
    """What the MCP server tells of the state, but for what it marks as proposed."""

    async def ask() -> list[str]:
        async with Client(Server(Served(str(project.folder)))) as client:
            state = (await client.call_tool("list", {})).structured_content
            return [own(json.dumps(state))]

    yield from anyio.run(ask)


def own(text: str) -> str:
    """What a text tells as this project's: JSON without proposals, and lines without those that say so."""
    try:
        return json.dumps(_without_proposals(json.loads(text)))
    except ValueError:
        lines = text.splitlines()
        return "\n".join(map(own, lines)) if len(lines) > 1 else "" if re.search(r"\bproposed\b", text) else text


def _without_proposals(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_proposals(one) for one in value if not _is_proposal(one)]
    if isinstance(value, dict):
        return {name: _without_proposals(one) for name, one in value.items()}
    return value


def _is_proposal(value: Any) -> bool:
    return isinstance(value, dict) and "proposed" in (value.get("status"), value.get("state"))


def session_texts(project: Project) -> Iterator[tuple[str, str]]:
    """All that hooks tell in a session, with their names."""
    for source in STARTS:
        for part in ("brief", "working_set"):
            yield f"SessionStart {source} {part}", hooked(project, "SessionStart", part, source=source)
    yield "UserPromptSubmit", hooked(project, "UserPromptSubmit", prompt=f"And the {WORD}?")
    yield "SubagentStart", hooked(project, "SubagentStart", agent_id="a1b2", agent_type="general-purpose")
    yield "Stop", hooked(project, "Stop", last_assistant_message="done")
    for trigger in ("auto", "manual"):
        yield f"PreCompact {trigger}", hooked(project, "PreCompact", trigger=trigger)
    yield (
        "SubagentStop",
        hooked(
            project, "SubagentStop", agent_type="", agent_id="c", last_assistant_message="<summary>We began.</summary>"
        ),
    )
    for part in ("brief", "working_set"):
        yield f"SessionStart compact {part}, later", hooked(project, "SessionStart", part, source="compact")


def all_texts(project: Project, printed: Callable[..., str]) -> Iterator[tuple[str, str]]:
    """All that goes out, with the names of the places."""
    yield from session_texts(project)
    for command in READERS:
        yield " ".join(command), printed(*command)
    place = locate(str(project.folder), str(project.data), create=False)
    yield "status line", str(glance_at(place, load_settings(None, os.environ), "s", None, 0, os.environ))
    printed("install", "--rules")
    yield "rules file", (project.folder / ".claude" / "rules" / "unified-state.md").read_text(encoding="utf-8")
    yield "state file", project.state_path.read_text(encoding="utf-8")
    yield from (("MCP", text) for text in asked_by_mcp(project))


def told(marks: Marks, text: str) -> set[str]:
    """The fields of the marks in a text."""
    return {marks.paths[mark] for mark in MARK.findall(text)}


@pytest.mark.parametrize("is_own", [False, True])
def test_no_text_of_a_foreign_file_comes_out_before_the_user_takes_it_over(
    here: Project, marks: Marks, printed: Callable[..., str], *, is_own: bool
) -> None:
    if is_own:  # a file of ours, in which somebody changed everything
        printed("decision", "add", "Use SQLite", "--rationale", "one file")
    here.state_path.write_text(json.dumps(marks.state), encoding="utf-8")
    written(here)
    (line,) = [text for name, text in session_texts(here) if "accept --all" in text]  # it is told once
    assert line.count("entries of .claude/unified-session-state.json") == 1
    leaks = {name: found for name, text in all_texts(here, printed) if (found := told(marks, own(text)))}
    assert leaks == {}
    waiting = printed("inbox", "--json")
    assert {one["file"] for one in json.loads(waiting)} == {".claude/unified-session-state.json"}
    assert marks.memory().keys() <= told(marks, waiting)


def test_what_the_user_takes_over_comes_back(here: Project, marks: Marks, printed: Callable[..., str]) -> None:
    here.state_path.write_text(json.dumps(marks.state), encoding="utf-8")
    file = str(here.state_path)
    assert "only the user takes over" in printed("inbox", "accept", "--all", file)
    assert here.at_terminal("inbox", "accept", "--all", file).code == 0
    assert printed("inbox") == "unified-state: the inbox is empty\n"
    assert told(marks, own(here.state_path.read_text(encoding="utf-8"))) >= marks.memory().keys()
    brief = told(marks, hooked(here, "SessionStart", "brief", source="compact"))
    assert brief >= {
        "workItem.title", "summaries.contextHighlights.0", "summaries.pendingActions.0", "summaries.keyDecisions.0",
        "decisions.0.decision", "constraints.0.constraint", "failedAttempts.0.attempt", "sessions.other.workItem.title",
    }  # fmt: skip
