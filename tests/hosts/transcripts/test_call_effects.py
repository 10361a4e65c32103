"""What a tool call does: the command, the file it names, and the files it changes, in the forms of every host."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rollouts import patched
from unified_state.hosts.transcripts.rules.call_effects import call_of, found_nothing
from unified_state.hosts.transcripts.rules.patches import changes_in

UPDATE = "*** Update File: src/limiter.py\n@@ def take\n def take(bucket):\n-    old_rate = 1\n+    new_rate = 2"


def changed(tool: str, **fields: Any) -> dict[str, str]:
    """The files that a call changes, with what becomes of each."""
    return {change.path: change.gone for change in call_of(tool, fields).changes}


def test_a_patch_changes_the_files_that_it_names() -> None:
    body = f"*** Add File: a.py\n+class NewLimiter:\n{UPDATE}\n*** Delete File: b.py"
    added, updated, deleted = changes_in(patched(body))
    assert (added.path, added.text, added.gone) == ("a.py", "class NewLimiter:", "")
    assert (updated.path, updated.gone) == ("src/limiter.py", "")
    assert updated.text.split("\n") == ["def take", "def take(bucket):", "    old_rate = 1", "    new_rate = 2"]
    assert (deleted.path, deleted.gone) == ("b.py", "deleted")


def test_a_moved_file_is_a_new_one_and_one_that_is_gone() -> None:
    gone, new = changes_in(patched("*** Update File: a.py\n*** Move to: lib/b.py\n@@\n-old_name\n+new_name"))
    assert (gone.path, gone.gone) == ("a.py", "moved to lib/b.py")
    assert (new.path, new.gone, new.text.split()) == ("lib/b.py", "", ["old_name", "new_name"])


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "no patch",
        "*** Begin Patch",
        "*** Begin Patch\n*** End Patch",
        "*** Move to: x\n*** End Patch",
        "*** Update File: ",
    ],
)
def test_a_patch_that_names_no_file_changes_none(patch: str) -> None:
    assert list(changes_in(patch)) == []


def test_a_patch_that_was_cut_still_names_its_file() -> None:
    assert [change.path for change in changes_in(f"*** Begin Patch\n{UPDATE}")] == ["src/limiter.py"]


@given(st.lists(st.sampled_from(["*** ", "Begin Patch", "Update File: ", "a.py", "\n", "@@", "+x", "*** Move to: b"])))
def test_any_text_can_be_read_as_a_patch(parts: list[str]) -> None:
    assert all(change.path for change in changes_in("".join(parts)))


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"command": f"apply_patch <<'EOF'\n{patched(UPDATE)}\nEOF"}, "src/limiter.py"),
        ({"command": f"cd lib && apply_patch <<'EOF'\n{patched(UPDATE)}\nEOF"}, "lib/src/limiter.py"),
        ({"command": f"cat <<'EOF' | apply_patch\n{patched(UPDATE)}\nEOF"}, "src/limiter.py"),
        ({"command": f"apply_patch '{patched(UPDATE)}'"}, "src/limiter.py"),
        ({"command": f"apply_patch <<'EOF'\n{patched(UPDATE)}\nEOF", "workdir": "/w/tree"}, "/w/tree/src/limiter.py"),
    ],
)
def test_a_shell_command_that_applies_a_patch_is_a_change(fields: dict[str, Any], path: str) -> None:
    call = call_of("Bash", fields)
    assert [change.path for change in call.changes] == [path]
    assert "new_rate" in call.changes[0].text


def test_a_command_that_only_applies_a_patch_is_no_command() -> None:
    patch = f"apply_patch <<'EOF'\n{patched(UPDATE)}\nEOF"
    assert call_of("Bash", {"command": patch}).command == ""
    assert call_of("Bash", {"command": f"{patch}\nmake test"}).command.endswith("make test")


def test_a_text_that_quotes_a_patch_changes_nothing() -> None:
    command = f"cat > notes.md <<'EOF'\nuse apply_patch:\n{patched(UPDATE)}\nEOF"
    assert call_of("Bash", {"command": command}).changes == ()


def test_the_edits_of_other_hosts_are_changes_too() -> None:
    assert changed("Edit", file_path="/a.py", old_string="x", new_string="y") == {"/a.py": ""}
    assert changed("Write", file_path="/a.py", content="x") == {"/a.py": ""}
    assert changed("NotebookEdit", notebook_path="/a.ipynb", new_source="x") == {"/a.ipynb": ""}
    assert changed("Read", file_path="/a.py") == {}


@pytest.mark.parametrize(
    ("command", "result", "is_nothing"),
    [
        ("rg -n limiter src", "Exit code 1\n", True),
        ("rg -n limiter src", "Exit code 2\nno such folder", False),
        ("make test", "Exit code 1", False),
    ],
)
def test_a_search_without_a_match_is_no_failure(command: str, result: str, *, is_nothing: bool) -> None:
    assert found_nothing(command, result) is is_nothing
