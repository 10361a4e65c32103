"""What the user wants gone is gone from every byte we keep, and does not come back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.amount import amount

from .product import Project, all_bytes
from .secrets import planted, readable_in, secret_texts
from .transcripts import Transcript

WORD = "qzxvquixoticmauve"  # no other word begins like it, so an index cannot hide its beginning in another one
STAYS = "jjkwstayshere"


class Session:
    """A session in which a word was said, in every way in which one can be said."""

    def __init__(self, project: Project, path: Path) -> None:
        self.project, self.path, self.written = project, path, Transcript("s")
        written = self.written
        written.prompt(f"{STAYS} at first")
        written.text("Well.")
        written.prompt(f"tell me of {WORD}")
        written.says({"type": "thinking", "thinking": WORD, "signature": "x"}, {"type": "text", "text": f"So: {WORD}."})
        written.call("Bash", {"command": f"grep {WORD}"}, f"{WORD} " * 200)
        written.prompt("and on")
        written.text("Done.")
        written.write(path)
        self.hook("UserPromptSubmit")
        self.hook("PreCompact", trigger="manual")
        for part in ("brief", "working_set"):
            self.hook("SessionStart", part, source="compact")

    def hook(self, event: str, part: str = "", **fields: object) -> None:
        """Let the client run a hook of this session."""
        assert self.project.hook(event, part, transcript_path=str(self.path), **fields).code == 0

    def is_gone(self) -> bool:
        """Whether the word stands nowhere, neither now nor after the transcript was archived once more."""
        before = _readable(self.project)
        assert self.project.run("import", str(self.path)).code == 0
        self.hook("PreCompact")
        copy = self.path.with_name("copy.jsonl")
        copy.write_bytes(self.path.read_bytes())
        assert self.project.run("import", str(copy)).code == 0
        return not before and not _readable(self.project)

    def rest_is_there(self) -> bool:
        """Whether what was not to be forgotten is still kept."""
        return any(line.get("text") == f"{STAYS} at first" for line in self.project.export("s"))


@pytest.fixture
def session(project: Project, tmp_path: Path) -> Session:
    """An archived session that holds the word."""
    return Session(project, tmp_path / "s.jsonl")


def test_a_forgotten_turn_is_gone_and_stays_gone(session: Session) -> None:
    turn = session.project.ask("search", WORD)[0]["ref"]
    turn = session.project.ask("show", turn).get("turn", turn)
    assert session.project.run("forget", turn, "--yes").code == 0
    assert session.is_gone()
    assert session.rest_is_there()


def test_a_forgotten_session_is_gone_and_stays_gone(session: Session) -> None:
    assert session.project.run("forget", "--session", "s", "--yes").code == 0
    assert session.is_gone()
    assert session.project.export("s") == []


@pytest.mark.parametrize("text", [WORD.upper()])
def test_all_that_holds_a_text_is_gone_and_stays_gone(session: Session, text: str) -> None:
    project = session.project
    project.decide(f"decide on {WORD}")
    project.ask("question", "add", "Which?", "--context", f"{WORD}?")
    project.ask("evidence", "add", "--type", "error", f"E: {WORD}", "--source", WORD)
    project.ask("work", "set", "--title", f"work on {WORD}")
    assert project.run("save", "--highlight", f"saw {WORD}", "--action", f"do {WORD}").code == 0
    session.hook("SubagentStop", agent_type="", last_assistant_message=f"<summary>{WORD}</summary>")
    session.hook("Stop", last_assistant_message=f"At last {WORD}.")
    assert project.run("forget", "--match", text, "--yes").code == 0
    assert session.is_gone()
    assert session.rest_is_there()


def test_a_forgotten_item_is_gone_also_from_what_was_restored(session: Session) -> None:
    project = session.project
    assert project.run("forget", "--match", WORD, "--yes").code == 0
    item = project.decide(f"decide on {WORD}")
    session.hook("SessionStart", "brief", source="compact")
    assert project.run("forget", item, "--yes").code == 0
    assert _readable(project) == set()
    assert project.run("show", item).code == 1
    assert project.decide("another") != item


def test_a_forgotten_item_is_gone_from_the_state_files_of_all_worktrees(
    project: Project, git: Callable[..., str]
) -> None:
    other = Project(project.folder.parent / "other", project.home)
    git("worktree", "add", "--quiet", str(other.folder), "-b", "other")
    item = project.decide(WORD)
    assert other.run("save").code == 0
    assert project.run("forget", item, "--yes").code == 0
    assert _readable(other) == set()


def test_a_text_is_gone_also_where_only_a_person_or_a_problem_put_it(project: Project) -> None:
    item = project.decide("kept")
    state = project.state()
    state["decisions"].append({"decision": f"by hand: {WORD}", "rationale": "r"})
    state["decisions"][0]["rationale"] = WORD
    state |= {"notes": [f"mine: {WORD}", {"deep": [WORD]}], WORD: 1, "workItem": {"title": WORD}}
    project.state_path.write_text(json.dumps(state), encoding="utf-8")
    assert project.hook(WORD).code == 0
    assert WORD in project.log()
    assert project.run("forget", "--match", WORD, "--yes").code == 0
    assert _readable(project) == set()
    assert [decision["id"] for decision in project.state()["decisions"]] == [item]


def test_a_forgotten_session_s_work_is_gone_from_the_state_file(project: Project) -> None:
    done = project.run("work", "set", "--title", WORD, "--phase", WORD, CLAUDE_CODE_SESSION_ID="s")
    assert done.code == 0
    assert _readable(project) == {WORD}
    assert project.run("forget", "--session", "s", "--yes").code == 0
    assert _readable(project) == set()


@pytest.mark.parametrize("arguments", [("T9",), ("--session", "no"), ("--match", " ")])
def test_forgetting_what_does_not_exist_is_said_and_changes_nothing(
    session: Session, arguments: tuple[str, ...]
) -> None:
    before = session.project.export()
    done = session.project.run("forget", *arguments, "--yes")
    assert done.code in (1, 2)
    assert done.err.count("\n") == 1
    assert session.project.export() == before


def test_a_scan_finds_what_was_let_through_and_masks_it_everywhere(
    project: Project, tmp_path: Path, write_settings: Callable[[str], None]
) -> None:
    """As when the rules have become better since: here they were switched off by the user at first."""
    write_settings("mask_secrets = false\n")
    written, texts = Transcript("s"), secret_texts()
    for text in texts:
        written.prompt(text)
        written.call("Bash", {"command": text}, text)
    written.compaction("\n".join(texts))
    path = str(written.write(tmp_path / "s.jsonl"))
    everything = "\n".join(texts)
    project.ask("decision", "add", everything, "--rationale", everything, "--irreversible")
    project.ask("work", "set", "--title", everything)
    assert project.run("save", "--highlight", everything, "--action", everything).code == 0
    assert project.hook("PreCompact", transcript_path=path).code == 0
    assert project.hook("SessionStart", "brief", transcript_path=path, source="compact").code == 0
    assert len(_readable(project, planted())) > 100
    write_settings("")
    assert project.run("scan").code == 1
    fixed = project.ask("forget", "--secrets")
    assert {"D1", "K1"} < set(fixed["refs"])
    assert project.run("scan").code == 0
    assert _readable(project, planted()) == set()
    assert project.run("search", "MASKED").code == 0


def _readable(project: Project, words: set[str] | None = None) -> set[str]:
    content = all_bytes([project.data, project.state_path.parent])
    return readable_in(content, words or {WORD})


def test_no_unused_part_of_a_page_keeps_what_was_forgotten(project: Project, tmp_path: Path) -> None:
    """The rows of working sets are moved from page to page as a session goes on."""
    paths = [tmp_path / f"{name}.jsonl" for name in ("before", "s", "zafter")]
    written = [Transcript(path.stem) for path in paths]
    for number in range(amount(40, 15)):
        for transcript, path in zip(written, paths, strict=True):
            word = WORD if path.stem == "s" else STAYS
            transcript.prompt(f"run {number}")
            transcript.call("Bash", {"command": f"{word}{number * 7919 % 41} --deep {word} {number}"}, "done")
            transcript.call("Read", {"file_path": f"/code/{number * 31 % 37}/{word}.py"}, "pass")
            project.keep(transcript, path)
    assert WORD.encode() in project.archive.read_bytes()
    assert project.run("forget", "--session", "s", "--yes").code == 0
    assert WORD.encode() not in project.archive.read_bytes()
    assert STAYS.encode() in project.archive.read_bytes()
