"""Promise 2: the hook never hurts. Whatever is on its stdin, it exits 0, prints nothing the client would misread, and
writes down what was wrong.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.amount import amount

from .product import Done, Project, hook_command, well_printed
from .reading import kept, said
from .transcripts import Transcript

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
_LONG = amount(50_000_000, 2_000_000)

NO_EVENT = {
    "garbage": bytes(range(256)),
    "half an object": b'{"session_id": "s", "cwd": "/ho',
    "an object too many": b'{"session_id": "s"}{"session_id": "t"}',
    "invalid UTF-8": b'{"session_id": "\xff\xfe"',
    "a list": b"[]",
    "nested 100,000 deep": b'{"a":' * 100_000,
}
ODD_FIELDS: dict[str, dict[str, object]] = {
    "nothing but the event": {"session_id": None, "cwd": None},
    "fields of other types": {"session_id": 7, "transcript_path": ["x"], "cwd": {}, "agent_id": 0, "agent_type": []},
    "empty fields": {"session_id": "", "transcript_path": "", "cwd": "", "agent_id": "", "agent_type": ""},
    "a folder as transcript": {"transcript_path": "/"},
    "a NUL in the paths": {"transcript_path": "/tmp/\0.jsonl", "cwd": "/tmp/\0"},
    "a file as folder": {"cwd": "/etc/passwd"},
    "lone surrogates": {"session_id": "\ud83d", "prompt": "\ud83d", "last_assistant_message": "a\udc00b"},
    "a session id like a path": {"session_id": "../../../../tmp/x", "agent_id": "../x"},
    "a session id of a megabyte": {"session_id": "x" * 1_000_000},
    "an escaped NUL in the message": {"last_assistant_message": "a\0b", "compact_summary": "a\0b"},
}


def harmless(done: Done, event: str) -> bool:
    """Whether a hook did no harm; PreCompact may print plain text."""
    return done.code == 0 and (event == "PreCompact" or well_printed(done)) and "Traceback" not in done.err


def test_input_that_is_no_event_does_no_harm_and_is_logged(project: Project) -> None:
    for event, (name, stdin) in itertools.product(EVENTS, NO_EVENT.items()):
        assert harmless(done := project.hook_given(event, stdin), event), (name, done)
    problems = [json.loads(line) for line in project.log().splitlines()]
    assert Counter(problem["event"] for problem in problems) == dict.fromkeys(EVENTS, len(NO_EVENT))
    assert all(f"the input of the {problem['event']} hook" in problem["problem"] for problem in problems)


def test_an_empty_input_and_an_event_with_odd_fields_do_no_harm(project: Project) -> None:
    for event in EVENTS:
        assert harmless(done := project.hook_given(event, b" \n"), event), done
        for name, fields in ODD_FIELDS.items():
            assert harmless(done := project.hook(event, **fields), event), (name, done)


def test_an_event_of_a_newer_client_does_no_harm_and_is_logged(project: Project) -> None:
    assert project.hook("FromTheFuture", transcript_path="/nowhere.jsonl") == Done(0, "", "")
    assert "'FromTheFuture'" in project.log()


def test_a_hook_that_is_called_wrongly_never_blocks_the_prompt(project: Project) -> None:
    """To the client exit 2 means that the prompt is refused."""
    for arguments in ((), ("Nonsense",), ("Stop", "nonsense"), ("Stop", "--nonsense"), ("Stop", "a", "b")):
        assert project.run("hook", *arguments, stdin=project.event("Stop")).code == 0, arguments


@pytest.mark.parametrize("prompt", ["} }\n" * (_LONG // 4)], ids=["brackets"])
def test_an_event_with_a_prompt_of_many_megabytes_is_an_event_like_any_other(
    project: Project, tmp_path: Path, prompt: str
) -> None:
    written = Transcript("s")
    written.turn(1)
    path = str(written.write(tmp_path / "s.jsonl"))
    assert project.hook("UserPromptSubmit", prompt=prompt, transcript_path=path) == Done(0, "", "")
    assert (project.log(), kept(project.export("s"))) == ("", said(written.content))


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_a_closed_stream_does_no_harm(project: Project, stream: str) -> None:
    project.decide("something to restore")
    closing = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-"}[stream]
    command = ["sh", "-c", f'"$@" {closing}', "sh", *hook_command("SessionStart", "brief")]
    assert project.execute(command, project.event("SessionStart", source="startup"), {}).code == 0


def test_a_working_directory_that_is_gone_does_no_harm(project: Project, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = ["sh", "-c", f'cd {gone} && rmdir {gone} && exec "$@"', "sh", *hook_command("Stop")]
    assert project.execute(command, project.event("Stop", cwd=str(gone)), {}) == Done(0, "", "")


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}, {"PYTHONHASHSEED": "x"}]
)
def test_the_restore_is_printed_in_any_locale(project: Project, variables: dict[str, str]) -> None:
    project.decide("Zoë's 🐘 stays")
    event = project.event("SessionStart", source="startup")
    done = project.execute(hook_command("SessionStart", "brief"), event, variables)
    assert done.code == 0
    assert "Zoë's 🐘 stays" in json.loads(done.out)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("settings", ["= broken", "\xff", "enabled = 5"])
def test_bad_settings_stop_no_hook(
    project: Project, tmp_path: Path, settings: str, write_settings: Callable[[str], None]
) -> None:
    write_settings(settings)
    written = Transcript("s")
    written.turn(1)
    path = str(written.write(tmp_path / "s.jsonl"))
    assert project.hook("UserPromptSubmit", transcript_path=path) == Done(0, "", "")
    assert project.hook("Stop", transcript_path=path) == Done(0, "", "")
    (project.home / ".config" / "unified-state" / "config.toml").unlink()
    assert kept(project.export("s")) == said(written.content)


def test_a_command_with_input_that_is_no_text_says_so_or_takes_it(project: Project) -> None:
    arguments = ("evidence", "add", "--type", "output", "-", "--source", "make")
    done = project.run(*arguments, stdin=b"caf\xe9: \xff\xfe not found\n")
    assert done.code in (0, 1), done
    if done.code == 0:
        assert "not found" in project.ask("show", done.out.strip())["body"]["content"]
