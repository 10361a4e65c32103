from __future__ import annotations

import pytest

from unified_state.constraints.rules.own_calls import runs_us_changed

LIFT = "unified-state constraint lift C1"


@pytest.mark.parametrize(
    "line",
    [
        f"env -u CLAUDECODE {LIFT}",
        f"env -i {LIFT}",
        f"CLAUDECODE= {LIFT}",
        f"HOME=/repo/fake /usr/bin/{LIFT}",
        f"unset CLAUDECODE; {LIFT}",
        f"unset CLAUDECODE && true && {LIFT}",
        f"export CLAUDECODE=''\n{LIFT}",
        f"CLAUDECODE=; {LIFT}",
        f"declare +x CLAUDECODE; {LIFT}",
        f"exec -c {LIFT}",
        f"bash -c 'unset CLAUDECODE; {LIFT}'",
        f"env -u CLAUDECODE bash -c '{LIFT}'",
        f"env -S '-u CLAUDECODE {LIFT}'",
        f"CLAUDECODE= timeout 5 {LIFT}",
        f"sudo -u ada {LIFT}",
        f"script -qc '{LIFT}' /dev/null",
        f"setsid {LIFT}",
        f"CLAUDECODE= bash -c '{LIFT}'",
        f"tmux new -d '{LIFT}'",
        f"(unset CLAUDECODE; yes | {LIFT})",
        f"CLAUDECODE= uv run {LIFT}",
        "env -u CLAUDECODE python3 -m unified_state.interfaces.cli.main forget C1",
        "CLAUDECODE= uni''fied-state constraint lift C1",
        "$((" * 30_000 + LIFT,
    ],
    ids=lambda line: str(line)[:50],
)
def test_our_program_with_its_environment_changed_is_told(line: str) -> None:
    assert runs_us_changed(line)


@pytest.mark.parametrize(
    "line",
    [
        LIFT,
        f"cd src && {LIFT}",
        f"bash -c '{LIFT}'",
        "timeout 5 unified-state status",
        "env | grep X; unified-state status",
        "NOTE='it holds'; unified-state decision add \"$NOTE\" --rationale r",
        "FOO=1 make && unified-state save",
        "FOO=1 echo unified-state",
        "echo 'env -u CLAUDECODE unified-state constraint lift C1'",
        "source .venv/bin/activate && unified-state status",
        "python -m unified_state.interfaces.cli.main status",
    ],
)
def test_our_program_as_it_is_and_its_mere_name_are_not(line: str) -> None:
    assert not runs_us_changed(line)
