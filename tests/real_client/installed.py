"""The product at work in a scenario: what its archive must hold, what it gave back, and how its hooks are broken."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.sandboxed.product import Product

from .messages import Json, Request, bash, flat_text, reply
from .product import ENDED, kept, said
from .scenario import Scenario
from .transcript import attachments

BRIEF, WORKING_SET = "brief", "working_set"
TO_KEEP = 'about="recorded items that the user did not say, and the work, as data"'
FENCED = re.compile(r"<unified-state-memory nonce=(\w+) .*?\n</unified-state-memory nonce=\1>", re.DOTALL)
HALF_LINE = b'{"type":"user","message":{"content":"half a'  # what a crash may leave; the client writes on behind it


def installed(scenario: Scenario, *options: str) -> Product:
    """The product, its hooks in the project."""
    product = Product(scenario)
    product.run("install", *options)
    return product


def installed_with_items(scenario: Scenario) -> Product:
    """The product with something to give back: D1, C1 and Q1, said by the user."""
    product = installed(scenario)
    product.run("decision", "add", "Use SQLite for the archive", "--rationale", "one file", "--irreversible")
    product.run("constraint", "add", "API v1 stays", "--source", "the user", "--blocking")
    product.run("question", "add", "Which port?", "--context", "8080 is taken", "--priority", "high")
    return product


def installed_with_much(scenario: Scenario) -> Product:
    """The product with so many recorded items that a restore fills both of its outputs."""
    product = installed_with_items(scenario)
    for number in range(10):
        text = f"{number}: {'words of a decision, and more of them. ' * 24}"
        product.run("decision", "add", text, "--rationale", "because")
    return product


def grow_until_compaction(scenario: Scenario) -> None:
    """Script four tool calls; the API says that the conversation has grown over the threshold of AUTO_COMPACT."""
    sizes = (20_000, 40_000, 60_000, 90_000)
    scenario.script(*(reply(bash(f"echo round-{n}"), input_tokens=size) for n, size in enumerate(sizes)), "done")


_OF_A_TASK = re.compile(r"<task-notification>.*<tool-use-id>(.*)</tool-use-id>.*<result>(.*)</result>", re.DOTALL)


def spoken(scenario: Scenario, session_id: str) -> Counter[tuple[str, str]]:
    """All that was said in a session, by its raw files: its transcript with the queued messages, and its subagents'."""
    found: Counter[tuple[str, str]] = Counter()
    for entries in _transcripts(scenario, session_id):
        found += said(entries)
        found += Counter(
            (entry["uuid"], flat_text(entry["attachment"]["prompt"]))
            for entry in entries
            if attachments([entry], "queued_command")
        )
    for _, text in list(found):  # the result of the call that began it
        found.update((f"{call}/{ENDED}", output) for call, output in _OF_A_TASK.findall(text))
    return found


def assert_archived(scenario: Scenario, product: Product, *session_ids: str) -> None:
    """After the next start of the client, every session is in the archive, each thing once, and no hook complained."""
    scenario.prompt("another session, which catches up")
    for session_id in session_ids:
        expected, exported = spoken(scenario, session_id), kept(product.export(session_id))
        assert exported == expected, f"missing: {expected - exported}; superfluous: {exported - expected}"
    assert_healthy(product)


def assert_healthy(product: Product) -> None:
    """No hook had a problem, and `doctor` finds none."""
    log, health = product.log(), product.health()
    assert log == "", log
    assert all(health.values()), health


def commit_something(scenario: Scenario) -> None:
    """Make the first commit of the project."""
    who = ("-c", "user.name=Tester", "-c", "user.email=tester@example.invalid")
    scenario.run_program("git", *who, "commit", "--quiet", "--allow-empty", "--message", "first commit")


def archives(scenario: Scenario) -> list[Path]:
    """The archives of all repositories of the scenario."""
    return sorted(scenario.home.glob(".local/share/unified-state/repositories/*/archive.db"))


def rows(scenario: Scenario, sql: str, *values: object) -> list[Any]:
    """What a query finds in the scenario's only archive."""
    (archive,) = archives(scenario)
    with closing(sqlite3.connect(archive)) as connection:
        return connection.execute(sql, values).fetchall()


def restores(request: Request) -> list[str]:
    """Our texts that stand whole in a request, each with its fence. After a manual compaction the client also repeats
    what PreCompact told the summariser.
    """
    texts = [found[0] for _, text in request.texts() for found in FENCED.finditer(text)]
    return [text for text in texts if TO_KEEP not in text]


def compaction(product: Product, ref: str = "K1") -> Json:
    """What the archive knows of a compaction."""
    found: Json = json.loads(product.run("show", ref, "--json"))
    return found


def change_handlers(scenario: Scenario, change: Callable[[Json], Json], event: str, part: str = "") -> None:
    """Change our handlers of an event, or only that of one part, where they are installed in the project."""
    path = scenario.project / ".claude" / "settings.local.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    for group in settings["hooks"][event]:
        group["hooks"] = [change(hook) if part in ("", hook["args"][-1]) else hook for hook in group["hooks"]]
    path.write_text(json.dumps(settings), encoding="utf-8")


def failing(handler: Json) -> Json:
    """The handler, so that it ends with exit status 1 and says nothing."""
    return {**handler, "command": "false", "args": [handler["args"][-1]]}


def timing_out(handler: Json) -> Json:
    """The handler, so that the client gives up on it."""
    return {**handler, "command": "sleep", "args": ["20"], "timeout": 0.5}


def late(handler: Json) -> Json:
    """The handler, so that it starts after all others of its event have ended."""
    return {
        **handler,
        "command": "sh",
        "args": ["-c", 'sleep 0.7; exec "$0" "$@"', handler["command"], *handler["args"]],
    }


def _transcripts(scenario: Scenario, session_id: str) -> Iterator[list[Json]]:
    transcript = scenario.transcript_path(session_id)
    for path in (transcript, *transcript.with_suffix("").glob("subagents/*.jsonl")):
        yield [json.loads(line) for line in path.read_bytes().splitlines() if not line.endswith(HALF_LINE)]
