from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import HOUR, NOW, SESSION, answer, call, prompt, result, summary, write_transcript
from unified_state.capture.capture_transcript import Capture
from unified_state.errors import NotFoundError
from unified_state.lib.text import estimate_tokens
from unified_state.lib.tokens import count_tokens
from unified_state.model.hook_event import Moment
from unified_state.project.workspace.workspace import Workspace
from unified_state.restore.preview import Preview, preview_restore

ROOT = "/home/ada/shop"
LATER = NOW + HOUR
FILLINGS = {
    "English": "the parser of the reader ",
    "Chinese": "修复了解析器的错误并重写",
    "emoji": "👩\u200d👩\u200d👧\u200d👦 🚀 ",
}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A session that has more to tell than fits."""
    return tmp_path / f"{SESSION}.jsonl"


def write(path: Path, text: str) -> None:
    entries = []
    for number in range(0, 120, 6):
        edit, run = f"toolu_e{number}", f"toolu_r{number}"
        words = " ".join(f"name_{number}_{word}" for word in range(40))
        path_name = f"{ROOT}/src/{text[:9].strip()}{number}.py"
        entries += [
            prompt(number, f"{number} {text * 20}", cwd=ROOT),
            answer(number + 1, call(edit, "Edit", file_path=path_name, new_string=f"{text} {words}")),
            result(number + 2, edit, "updated"),
            answer(number + 3, call(run, "Bash", command=f"make {number} {text * 9}")),
            result(number + 4, run, f"{text * 9}\nerror: {text * 3}{number}", is_error=True),
            answer(number + 5, text * 30),
        ]
    write_transcript(path, *entries)


def preview(workspace: Workspace, transcript: Path, tokens: int | None = None, said: str | None = None) -> Preview:
    return preview_restore(workspace, LATER, transcript=str(transcript), summary=said, tokens=tokens)


@pytest.mark.parametrize("filling", FILLINGS)
def test_a_restore_of_so_many_tokens_has_about_so_many(workspace: Workspace, transcript: Path, filling: str) -> None:
    write(transcript, FILLINGS[filling])
    for tokens in (50, 200, 2000, 9000):
        found = preview(workspace, transcript, tokens).measured()
        text, size = found["text"], found["tokens"]
        assert estimate_tokens(text) <= tokens
        assert count_tokens([text])[0] == size <= 1.1 * tokens
        assert size > min(tokens, 2000) / 2 or tokens < 300


def test_it_is_said_what_each_of_the_two_outputs_holds(workspace: Workspace, transcript: Path) -> None:
    write(transcript, FILLINGS["English"])
    found = preview(workspace, transcript)
    parts = found.measured()["parts"]
    assert [part["part"] for part in parts] == ["brief", "working_set"]
    assert found.text == "\n".join(part["text"] for part in parts)
    assert [part["tokens"] for part in parts] == count_tokens([part["text"] for part in parts])
    assert all(len(part["text"].encode("utf-16-le")) // 2 < 10_000 for part in parts)


def test_without_a_limit_that_of_the_settings_counts(workspace: Workspace, transcript: Path) -> None:
    write(transcript, FILLINGS["Chinese"])
    assert 3000 < estimate_tokens(preview(workspace, transcript).text) <= 4500
    workspace.settings.restore_tokens = 300
    assert estimate_tokens(preview(workspace, transcript).text) <= 300


def test_a_summary_that_is_given_counts_instead_of_the_one_in_the_transcript(
    workspace: Workspace, transcript: Path
) -> None:
    first, second = "Please rename the module of the parser.", "Please write tests for the reader, too."
    entries = [prompt(1, first), answer(2, "done"), prompt(3, second), answer(4, "done"), summary(5, first)]
    write_transcript(transcript, *entries)
    assert second not in preview(workspace, transcript, said=second).text
    assert first in preview(workspace, transcript, said=second).text


def test_a_preview_of_a_transcript_leaves_nothing_behind(
    workspace: Workspace, transcript: Path, tmp_path: Path
) -> None:
    write(transcript, FILLINGS["English"])
    before = sorted(tmp_path.rglob("*"))
    preview(workspace, transcript)
    assert sorted(tmp_path.rglob("*")) == before
    assert workspace.is_empty


def test_a_preview_of_the_archive_changes_nothing(workspace: Workspace, transcript: Path) -> None:
    write(transcript, FILLINGS["English"])
    workspace.use(lambda archive: Capture(archive, workspace.masker, Moment(NOW)).session(str(transcript), SESSION))
    before = Path(workspace.place.archive_path).read_bytes()
    found = preview_restore(workspace, LATER)
    assert found.text == preview(workspace, transcript).text
    assert Path(workspace.place.archive_path).read_bytes() == before


def test_a_session_that_is_not_archived_is_said(workspace: Workspace) -> None:
    workspace.use(lambda archive: archive.set_meta("a", "b"))
    with pytest.raises(NotFoundError, match=f"no session {SESSION}"):
        preview_restore(workspace, LATER)


def test_a_transcript_that_is_not_there_is_said(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no file"):
        preview(workspace, tmp_path / "missing.jsonl")
