from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import BODIES, NOW, SESSION, answer, call, prompt, result, uuid_of, write_transcript
from unified_state.archive.archive import Archive
from unified_state.archive.sessions import touch_session
from unified_state.capture.capture_transcript import Capture
from unified_state.ledger.check_validity import standing
from unified_state.ledger.record_item import Author, record_item
from unified_state.lib.times import current_time
from unified_state.model.hook_event import Moment
from unified_state.model.item import DECISION, Validity
from unified_state.project.place import Place, locate
from unified_state.project.workspace.workspace import Workspace
from unified_state.secrets.masker import Masker


@pytest.fixture
def place(repository: Path, data_dir: Path) -> Place:
    """The place of a git repository."""
    return locate(str(repository), str(data_dir), create=True)


class Decider:
    """Records decisions in the repository."""

    def __init__(self, archive: Archive, workspace: Workspace) -> None:
        self.archive, self.workspace = archive, workspace

    def __call__(self, said: str, **options: str) -> str:
        body = {**BODIES[DECISION], "decision": said}
        author = self.workspace.author()
        now = current_time()
        return record_item(self.archive, DECISION, body, author, now=now, **options).alias

    def standing(self) -> dict[str, Validity]:
        return dict(standing(self.archive, self.workspace.place.repository).others)


@pytest.fixture
def decide(archive: Archive, workspace: Workspace) -> Decider:
    return Decider(archive, workspace)


def edit(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "print(2)\n", encoding="utf-8")


def test_a_file_that_was_changed_since_is_named(decide: Decider, repository: Path) -> None:
    decide("Keep a.py short, and missing.py")
    edit(repository / "a.py")
    assert decide.standing() == {"D1": Validity(changed=("a.py",))}
    decide("Keep a.py as it is now")
    assert "D2" not in decide.standing()


def test_what_was_captured_stands_by_its_files_too(
    decide: Decider, archive: Archive, masker: Masker, repository: Path, tmp_path: Path
) -> None:
    touch_session(archive, SESSION, NOW, worktree=str(repository))
    asked = call("ask", "AskUserQuestion", questions=[{"question": "Which file?", "options": [{"label": "a.py"}]}])
    told = 'Your questions have been answered: "Which file?"="a.py". You can now continue.'
    entries = [answer(1, asked, cwd=str(repository)), result(2, "ask", told, cwd=str(repository))]
    transcript = write_transcript(tmp_path / "session.jsonl", *entries)
    Capture(archive, masker, Moment(NOW)).session(str(transcript), SESSION)
    assert decide.standing() == {}
    edit(repository / "a.py")
    assert decide.standing() == {"D1": Validity(changed=("a.py",))}


def test_a_file_that_is_named_without_its_folder_is_the_only_one_of_that_name(
    decide: Decider, repository: Path
) -> None:
    for path in ("src/store.py", "src/twice.py", "lib/twice.py"):
        (repository / path).parent.mkdir(exist_ok=True)
        (repository / path).write_text("x = 1\n", encoding="utf-8")
    decide("Keep store.py and twice.py short")
    edit(repository / "src/store.py")
    edit(repository / "src/twice.py")
    assert decide.standing() == {"D1": Validity(changed=("src/store.py",))}


def test_a_file_that_went_is_named(decide: Decider, repository: Path) -> None:
    decide("Keep a.py short")
    (repository / "a.py").unlink()
    assert decide.standing() == {"D1": Validity(gone=("a.py",))}


def test_another_branch_is_named(decide: Decider, git: Callable[..., str]) -> None:
    git("switch", "--quiet", "--create", "feature-x")
    decide("Use SQLite")
    git("switch", "--quiet", "main")
    assert decide.standing() == {"D1": Validity(branch="feature-x")}


def test_a_reset_leaves_the_ledger_ahead(decide: Decider, git: Callable[..., str]) -> None:
    git("commit", "--quiet", "--allow-empty", "--message", "second")
    decide("Use SQLite")
    git("commit", "--quiet", "--allow-empty", "--message", "third")
    assert decide.standing() == {}
    git("reset", "--quiet", "--hard", "HEAD~2")
    assert decide.standing() == {"D1": Validity(behind=True)}


@pytest.fixture
def pulled(decide: Decider, git: Callable[..., str], repository: Path, tmp_path: Path) -> list[str]:
    """Commits that somebody else made, pulled at once, the oldest first; D1 was recorded at the last one."""
    git("clone", "--quiet", str(repository), str(tmp_path / "other"))
    for number in range(3):
        git("commit", "--quiet", "--allow-empty", "--message", f"commit {number}", cwd=tmp_path / "other")
    git("pull", "--quiet", "--ff-only", str(tmp_path / "other"))
    decide("Use SQLite")
    return git("rev-list", "--reverse", "HEAD").split()


def test_an_old_commit_in_another_worktree_or_behind_packed_refs_is_told_too(
    decide: Decider, git: Callable[..., str], pulled: list[str], tmp_path: Path
) -> None:
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "old"), pulled[2])
    place = locate(str(tmp_path / "old"), str(tmp_path / "data"), create=True)
    assert dict(standing(decide.archive, place.repository).others) == {"D1": Validity(behind=True)}
    git("branch", "release", pulled[2])
    git("switch", "--quiet", "release")
    git("pack-refs", "--all")
    git("gc", "--quiet")
    assert decide.standing() == {"D1": Validity(branch="main", behind=True)}


def test_a_commit_of_another_branch_is_not_later(decide: Decider, git: Callable[..., str], pulled: list[str]) -> None:
    git("switch", "--quiet", "--create", "fix", pulled[1])
    git("commit", "--quiet", "--allow-empty", "--message", "a fix")
    git("reflog", "expire", "--expire=now", "--all")
    assert decide.standing() == {"D1": Validity(branch="main")}


def test_a_rewind_leaves_the_ledger_ahead(
    archive: Archive, workspace: Workspace, keep: Callable[..., None], decide: Decider, masker: Masker
) -> None:
    keep(prompt(0, "one"), answer(1, "done"), prompt(2, "two"), answer(3, "Use SQLite for all"))
    for at in (500, 2500):
        author = Author("inferred", SESSION)
        record_item(archive, DECISION, BODIES[DECISION], author, now=NOW + at)
    keep(prompt(4, "another way", parentUuid=uuid_of(1)))
    assert decide.standing()["D2"].rewound
    assert not decide.standing().get("D1", Validity()).rewound


def test_no_more_than_so_many_files_are_looked_at(decide: Decider, repository: Path) -> None:
    for number in range(70):
        (repository / f"f{number}.py").write_text("x", encoding="utf-8")
    for number in range(70):
        decide(f"Keep f{number}.py")
    for number in range(70):
        (repository / f"f{number}.py").unlink()
    assert len(decide.standing()) == 64
    assert "D70" in decide.standing()
