"""Which patterns a scope takes: each has to be one command, whole, as the shell reads it."""

from __future__ import annotations

import pytest

from unified_state.errors import UsageError
from unified_state.model.scope import checked_scope, read_scope


@pytest.mark.parametrize(
    "command", ["git push --force", "git commit -m 'one message'", 'psql -c "drop *"', "A=1 make", "it\\'s"]
)
def test_one_whole_command_is_a_pattern(command: str) -> None:
    assert checked_scope({"commands": [command]}).commands == (command,)


@pytest.mark.parametrize("command", ["git push; ls", "a | b", "a && b", "git push > log", "", " ", "#", "a\nb"])
def test_anything_else_is_not(command: str) -> None:
    with pytest.raises(UsageError, match=r"is not one command|is no pattern"):
        checked_scope({"commands": [command]})


@pytest.mark.parametrize(
    "command",
    ["git commit -m 'one", 'git "push', "git push \\", "git push $(x", "git `x", "cat <<EOF", "a >"],
)
def test_a_command_that_does_not_end_is_not(command: str) -> None:
    with pytest.raises(UsageError, match="does not end"):
        checked_scope({"commands": [command]})


@pytest.mark.parametrize("patterns", [[["git push"]], [{"a": 1}], [None], [1], {"a": 1}.items()])
def test_a_pattern_that_is_no_text_makes_a_scope_unreadable(patterns: object) -> None:
    assert read_scope({"commands": list(patterns)}) is None  # type: ignore[call-overload]
