"""What `prune_messages` cuts lies in the archive, and comes back whole."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from tests.processes import run_at_once
from unified_state import MessageArchive, prune_messages
from unified_state.archive.archive import Archive
from unified_state.archive.steps import find_step
from unified_state.context.prune_messages import CutText
from unified_state.errors import NotFoundError, UnifiedStateError
from unified_state.project.workspace.workspace import Workspace
from unified_state.upkeep.forget.forget_refs import ForgetRequest, forget

LONG = "a line of output\r\n" * 400 + "語\U0001f600"


PRUNE = """
# go
from unified_state import MessageArchive, prune_messages
messages = [{"role": role, "content": f"{number} {role} " + "word " * 900} for number in range(20)
            for role in ("user", "assistant")]
archive = MessageArchive(sys.argv[1], "one")
print([message["content"][-20:] for message in prune_messages(messages, archive.keep)])
"""


def conversation(text: str = LONG) -> list[dict[str, Any]]:
    """A conversation that is long enough to be pruned."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "do it"}]
    for number in range(20):
        messages += [
            {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": f"{number} {text}"}],
            },
        ]
    return messages


def test_what_was_cut_is_recalled_whole_by_the_ref_in_its_marker(workspace: Workspace) -> None:
    archive = MessageArchive(workspace=workspace)
    pruned = prune_messages(conversation(), archive.keep)
    (shown,) = pruned[2]["content"]
    ref = shown["content"].rsplit("recall ", 1)[1].removesuffix("]")
    assert archive.recall(ref) == f"0 {LONG}"


def test_the_archive_says_who_said_it_and_takes_no_programs_word_for_the_users(
    workspace: Workspace, archive: Archive
) -> None:
    said = [
        CutText("of the user", "user"),
        CutText("of the model", "assistant"),
        CutText("of a tool", "tool", "toolu_1"),
    ]
    refs = MessageArchive(workspace=workspace).keep(said)
    steps = [find_step(archive, int(ref[1:])) for ref in refs]
    assert [step and (step.kind, step.tool_use_id) for step in steps] == [
        ("notice", None),
        ("text", None),
        ("tool_result", "toolu_1"),
    ]


def test_secrets_are_masked_and_what_is_private_stays_out(workspace: Workspace) -> None:
    archive = MessageArchive(workspace=workspace)
    (ref,) = archive.keep([CutText("password = 'h7G-kk2!pQz9wXv4' <private>my salary</private>", "user")])
    kept = archive.recall(ref)
    assert "h7G-kk2" not in kept
    assert "salary" not in kept


def test_what_the_user_had_forgotten_is_not_kept_again_and_so_not_cut(workspace: Workspace) -> None:
    messages = conversation()
    pruned = prune_messages(messages, MessageArchive(workspace=workspace).keep)
    forget(workspace, 0, ForgetRequest(text="a line of output"))
    assert prune_messages(messages, MessageArchive(workspace=workspace).keep) == messages != pruned


def test_an_unknown_ref_is_not_found(workspace: Workspace) -> None:
    archive = MessageArchive(workspace=workspace)
    archive.keep([CutText("x", "tool")])
    with pytest.raises(NotFoundError):
        archive.recall("S999")


def test_processes_that_prune_the_same_at_once_give_the_same_refs_and_each_text_has_its_own(
    repository: Path, home: Path
) -> None:
    first, *others = run_at_once(PRUNE, [[str(repository)]] * 4)
    assert others == [first] * 3
    assert first.count("recall S") == 32
    (path,) = home.glob(".local/share/unified-state/repositories/*/archive.db")
    with Archive(str(path)) as archive:
        assert archive.row("SELECT count(*) FROM step") == (32,)


def test_what_cannot_be_archived_is_not_cut(workspace: Workspace) -> None:
    Path(workspace.place.archive_path).parent.mkdir(parents=True, exist_ok=True)
    Path(workspace.place.archive_path).mkdir()
    messages = conversation()
    before = copy.deepcopy(messages)
    with pytest.raises(UnifiedStateError):
        prune_messages(messages, MessageArchive(workspace=workspace).keep)
    assert messages == before
