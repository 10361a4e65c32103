"""A program that records what it settles, and reads it the next time: python notes_with_memory.py"""

from __future__ import annotations

import json

from unified_state import UnifiedStateManager
from unified_state.errors import UnifiedStateError


def record(state: UnifiedStateManager) -> None:
    """Record what later work depends on. Each entry has an id, and is on disk when the call returns."""
    decision = state.add_decision("Keep notes in SQLite", "one fiel, no server", reversible=False)
    state.edit(decision.id, rationale="one file, no server")  # takes its place; the older one can be recalled
    state.add_open_question("Which port?", "8000 is taken", priority="high")
    state.add_attempt("Store notes as one JSON file", "two writers lose notes")
    state.add_constraint("Keep the API of notes.py", "the release of March", scope={"paths": ["notes.py"]}, mode="ask")
    state.set_work_item("#12", "Offline sync", phase="build", progress=0.4)
    state.save_state(actions=["Write the conflict test"])


def show(state: UnifiedStateManager) -> None:
    """Read what is recorded: lists by kind and status, a search over everything, and the whole of one item."""
    for decision in state.list_decisions():
        print(decision.id, decision.decision, f"({decision.rationale})")
    for question in state.list_questions():
        print(json.dumps({"open": question.question, "priority": question.model_dump()["priority"]}))
    print([hit.ref for hit in state.search("notes", kind="attempt")], state.show("D1")["status"])
    proposal = state.propose_lift("C1")  # only the user lifts a rule; a program proposes it
    print(proposal.id, proposal.status, [rule.id for rule in state.list_constraints()])


if __name__ == "__main__":
    with UnifiedStateManager() as state:
        try:
            record(state)
            show(state)
        except UnifiedStateError as error:
            print(error.message, error.hint)
