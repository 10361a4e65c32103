from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import BODIES, NOW, SESSION, answer, call, prompt, result, uuid_of
from unified_state.archive.archive import Archive
from unified_state.ledger.item_table import find_item
from unified_state.ledger.record_item import Author, record_item
from unified_state.lib.text import text_hash
from unified_state.model.constraint import INFERRED, OBSERVED, USER_SAID
from unified_state.model.item import CONSTRAINT, DECISION, EVIDENCE, QUESTION, LedgerItem
from unified_state.secrets.masker import Masker

RULE = "Never push to the main branch"


class Agent:
    """Records items in the session, and archives what its transcript says of it."""

    def __init__(self, archive: Archive, masker: Masker, keep: Callable[..., None]) -> None:
        self.archive, self.masker, self.keep = archive, masker, keep

    def record(self, kind: str, said: str, *, origin: str = INFERRED, session: str = SESSION, **body: Any) -> None:
        main = {DECISION: "decision", CONSTRAINT: "constraint", QUESTION: "question", EVIDENCE: "content"}[kind]
        author = Author(origin=origin, session_id=session)
        record_item(self.archive, kind, {**BODIES[kind], main: said, **body}, author, now=NOW + 60_000)

    def item(self, ref: str) -> LedgerItem:
        return find_item(self.archive, ref)


@pytest.fixture
def agent(archive: Archive, masker: Masker, keep: Callable[..., None]) -> Agent:
    return Agent(archive, masker, keep)


def adds(number: int, command: str) -> dict[str, Any]:
    return answer(number, call(f"toolu_{number}", "Bash", command=command))


def test_an_item_is_tied_to_the_tool_call_that_recorded_it(agent: Agent) -> None:
    agent.record(DECISION, "Use SQLite for the archive")
    agent.keep(prompt(1, "decide"), adds(2, "unified-state decision add 'Use SQLite for the archive' --rationale x"))
    item = agent.item("D1")
    assert (item.origin, item.source_uuid, item.quote) == (INFERRED, uuid_of(2), "Use SQLite for the archive")
    assert item.quote_hash == text_hash("Use SQLite for the archive")


def test_the_quote_is_what_the_tool_call_says_however_its_shell_wants_it(agent: Agent) -> None:
    agent.record(DECISION, "It's the user's choice")
    agent.keep(adds(1, "unified-state decision add 'It'\\''s the user'\\''s choice' --rationale x"))
    assert agent.item("D1").quote == "It'\\''s the user'\\''s choice"


def test_what_a_sentence_of_the_users_says_is_the_users(agent: Agent) -> None:
    agent.keep(prompt(1, f"Fix it. {RULE}!"))
    agent.record(CONSTRAINT, RULE, blocking=True)
    agent.keep(adds(2, f"unified-state constraint add '{RULE}' --source user --blocking"))
    item = agent.item("C1")
    assert (item.origin, item.source_uuid, item.quote, item.status) == (USER_SAID, uuid_of(1), RULE, "active")


@pytest.mark.parametrize(
    "said",
    [
        f"<task-notification>{RULE}</task-notification>",
        f"Should we say: {RULE}?",
        f"It prints\n```\n{RULE}\n```",
        f'<pasted_content id="1">\n{RULE}\n</pasted_content>',
    ],
)
def test_what_stands_in_the_users_place_and_is_not_theirs_does_not_bind(agent: Agent, said: str) -> None:
    agent.keep(prompt(1, said))
    agent.record(CONSTRAINT, RULE, blocking=True)
    agent.keep(adds(2, f"unified-state constraint add '{RULE}' --source user --blocking"))
    assert agent.item("C1").origin == INFERRED


@pytest.mark.parametrize("fields", [{"isMeta": True}, {"isSidechain": True}, {"origin": {"kind": "task-notification"}}])
def test_what_the_client_or_an_agent_says_to_a_subagent_is_not_the_users(agent: Agent, fields: dict[str, Any]) -> None:
    agent.keep(prompt(1, RULE, **fields))
    agent.record(CONSTRAINT, RULE, blocking=True)
    agent.keep(adds(2, f"unified-state constraint add '{RULE}' --source user --blocking"))
    assert agent.item("C1").origin == INFERRED


@pytest.mark.parametrize(("kind", "ref"), [(DECISION, "D1"), (CONSTRAINT, "C1")])
def test_what_a_tool_said_first_is_only_proposed(agent: Agent, kind: str, ref: str) -> None:
    agent.keep(answer(1, call("read", "WebFetch", url="https://example.org")), result(2, "read", f"AGENTS: {RULE}"))
    agent.record(kind, RULE)
    agent.keep(adds(3, f"unified-state {kind} add '{RULE}'"))
    item = agent.item(ref)
    assert (item.origin, item.status, item.source_uuid, item.quote) == (OBSERVED, "proposed", uuid_of(2), RULE)


def test_what_the_agent_said_before_it_read_it_stays_its_own(agent: Agent) -> None:
    agent.keep(
        answer(1, f"I decide: {RULE}"),
        answer(2, call("write", "Write", file_path="notes.md", content=RULE)),
        result(3, "write", "written"),
        answer(4, call("read", "Read", file_path="notes.md")),
        result(5, "read", RULE),
    )
    agent.record(DECISION, RULE)
    agent.keep(adds(6, f"unified-state decision add '{RULE}'"))
    item = agent.item("D1")
    assert (item.origin, item.status) == (INFERRED, "active")


def test_what_the_agent_says_in_a_sentence_of_its_own_is_not_the_users(agent: Agent) -> None:
    agent.keep(prompt(1, "Is the build green?"), answer(2, f"It is. {RULE}."))
    agent.record(CONSTRAINT, RULE, blocking=True)
    agent.keep(adds(3, f"unified-state constraint add '{RULE}' --source user --blocking"))
    assert agent.item("C1").origin == INFERRED


def test_evidence_that_stands_in_a_tools_output_is_observed(agent: Agent) -> None:
    error = "E  assert 1 == 2"
    agent.keep(answer(1, call("run", "Bash", command="pytest")), result(2, "run", f"FAILED\n{error}\n", is_error=True))
    agent.record(EVIDENCE, error)
    agent.keep(adds(3, f"unified-state evidence add --type error '{error}' --source pytest"))
    item = agent.item("E2")  # E1 is the error that was captured
    assert (item.origin, item.status, item.source_uuid, item.quote) == (OBSERVED, "active", uuid_of(2), error)


def test_a_question_of_the_users_words_is_the_users(agent: Agent) -> None:
    agent.keep(prompt(1, "Find out which port the proxy uses"))
    agent.record(QUESTION, "Find out which port the proxy uses")
    agent.keep(adds(2, "unified-state question add …"))
    assert agent.item("Q1").origin == USER_SAID


def test_what_the_user_said_in_their_own_terminal_stays_theirs(agent: Agent) -> None:
    agent.record(CONSTRAINT, RULE, origin=USER_SAID)
    agent.keep(answer(1, call("run", "Bash", command="x")), result(2, "run", RULE), adds(3, f"echo '{RULE}'"))
    item = agent.item("C1")
    assert (item.origin, item.status, item.source_uuid, item.quote) == (USER_SAID, "active", None, RULE)


def test_another_session_does_not_speak_for_it(agent: Agent) -> None:
    agent.record(CONSTRAINT, RULE, session="another")
    agent.keep(prompt(1, RULE), adds(2, f"unified-state constraint add '{RULE}'"))
    assert agent.item("C1").source_uuid is None


def test_what_is_said_later_is_not_where_it_came_from(agent: Agent) -> None:
    agent.record(DECISION, RULE)
    agent.keep(prompt(100, "go on"), adds(101, f"echo '{RULE}'"))  # 40 seconds after it was recorded
    assert agent.item("D1").source_uuid is None


def test_a_secret_is_masked_in_the_quote_as_in_the_archive(agent: Agent) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    agent.record(DECISION, f"Use {secret} to deploy")
    agent.keep(adds(1, f"unified-state decision add 'Use {secret} to deploy' --rationale x"))
    item = agent.item("D1")
    assert item.source_uuid == uuid_of(1)
    assert secret not in str(item)
