"""Commits and their ancestors, read from `.git` of real repositories without git."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.memory.repository.find_repository import Repository, find_repository
from unified_state.memory.repository.objects.ancestry import CommitStore, ancestors_of, descendants_of
from unified_state.memory.repository.objects.pack_file import DamagedPackError, patched

Git = Callable[..., str]

LONG = "\n".join(
    f"A long message of {number}, so that git stores one commit as a delta of another." for number in range(40)
)


@pytest.fixture
def history(git: Git, repository: Path) -> list[str]:
    """Six commits on main, a branch from the third, and a merge of it; the oldest first, as git lists them."""
    for number in range(5):
        git("commit", "--quiet", "--allow-empty", "--message", f"{number}\n\n{LONG}")
    git("switch", "--quiet", "--create", "feature", "HEAD~2")
    git("commit", "--quiet", "--allow-empty", "--message", f"feature\n\n{LONG}")
    git("switch", "--quiet", "main")
    git("merge", "--quiet", "--no-ff", "--message", f"merged\n\n{LONG}", "feature")
    return git("rev-list", "--topo-order", "--reverse", "HEAD").split()


def place(folder: Path) -> Repository:
    return find_repository(str(folder))


def read_all(git: Git, folder: Path) -> None:
    """Every commit that git lists is read, as git reads it."""
    listed = [line.split(" ") for line in git("log", "--all", "--format=%H %ct %P", cwd=folder).splitlines()]
    store = CommitStore(str(place(folder).common_dir))
    found = [store.find(name) for name, *_ in listed]
    store.close()
    assert found == [(int(at), tuple(filter(None, parents))) for _, at, *parents in listed]


def earlier(git: Git, folder: Path, head: str) -> set[str]:
    """The history of a commit without itself, as git tells."""
    return set(git("rev-list", head, cwd=folder).split()) - {head}


def later(git: Git, folder: Path, head: str) -> set[str]:
    """The commits that come after one, as git tells."""
    return set(git("rev-list", "--ancestry-path", f"{head}..HEAD", cwd=folder).split())


def test_every_commit_tells_what_comes_after_it(git: Git, history: list[str], repository: Path) -> None:
    read_all(git, repository)
    for head in history:
        assert descendants_of(place(repository), head, history) == later(git, repository, head)
        assert ancestors_of(place(repository), head, history) == earlier(git, repository, head)


@pytest.mark.parametrize("options", [(), ("-c", "repack.useDeltaBaseOffset=false")], ids=["by offset", "by name"])
def test_commits_in_a_pack_are_read_also_those_stored_as_deltas(
    git: Git, history: list[str], repository: Path, options: tuple[str, ...]
) -> None:
    git(*options, "repack", "--quiet", "-a", "-d", "-f", "--depth=10")
    (index,) = (repository / ".git/objects/pack").glob("*.idx")
    listed = [line.split() for line in git("verify-pack", "--verbose", str(index)).splitlines()]
    assert any(words[1:2] == ["commit"] and len(words) > 5 for words in listed)  # it has a delta of a commit
    read_all(git, repository)
    for head in history:
        assert descendants_of(place(repository), head, history) == later(git, repository, head)


def test_a_clone_that_borrows_objects_reads_them_there(
    git: Git, history: list[str], repository: Path, tmp_path: Path
) -> None:
    git("clone", "--quiet", "--shared", str(repository), str(tmp_path / "clone"))
    read_all(git, tmp_path / "clone")
    assert descendants_of(place(tmp_path / "clone"), history[0], history) == set(history[1:])


def test_a_worktree_reads_the_objects_of_its_repository(
    git: Git, history: list[str], repository: Path, tmp_path: Path
) -> None:
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "old"), history[1])
    assert descendants_of(place(tmp_path / "old"), history[1], history) == set(history[2:])


def test_a_shallow_clone_tells_what_it_has(git: Git, history: list[str], repository: Path, tmp_path: Path) -> None:
    git("clone", "--quiet", "--depth", "2", f"file://{repository}", str(tmp_path / "clone"))
    head = git("rev-parse", "HEAD~1", cwd=tmp_path / "clone").strip()
    found = descendants_of(place(tmp_path / "clone"), head, history)
    assert found == {history[-1]}
    assert descendants_of(place(tmp_path / "clone"), history[0], history) == set()  # it is not there


def test_a_repository_with_sha256_is_read(git: Git, tmp_path: Path) -> None:
    folder = tmp_path / "sha256"
    git("init", "--quiet", "--object-format=sha256", str(folder), cwd=tmp_path)
    for number in range(3):
        git("commit", "--quiet", "--allow-empty", "--message", f"{number}\n\n{LONG}", cwd=folder)
    first, *rest = git("rev-list", "--reverse", "HEAD", cwd=folder).split()
    assert descendants_of(place(folder), first, rest) == set(rest)
    git("repack", "--quiet", "-a", "-d", "-f", cwd=folder)
    assert descendants_of(place(folder), first, rest) == set(rest)


def test_outside_git_and_of_no_commits_nothing_is_later(tmp_path: Path, repository: Path) -> None:
    assert descendants_of(place(tmp_path), "a" * 40, ["b" * 40]) == set()
    assert descendants_of(place(repository), "a" * 40, ["b" * 40, "../../secret", ""]) == set()


def test_no_more_commits_are_read_than_the_limit(history: list[str], repository: Path) -> None:
    assert descendants_of(place(repository), history[0], history[-1:], most=3) == set()
    assert descendants_of(place(repository), history[0], history[-1:], most=20) == {history[-1]}


def test_replaced_commits_count_as_they_were_written(git: Git, history: list[str], repository: Path) -> None:
    git("replace", "--graft", history[-1])  # the last one has no parents any more
    assert descendants_of(place(repository), history[0], history) == set(history[1:])


@pytest.mark.usefixtures("alarm")
def test_pipes_in_place_of_files_are_not_waited_for(history: list[str], repository: Path, git: Git) -> None:
    git("repack", "--quiet", "-a", "-d")
    (pack,) = (repository / ".git/objects/pack").glob("*.pack")
    for path in (pack, repository / ".git/shallow", repository / ".git/objects/info/alternates"):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    assert descendants_of(place(repository), history[0], history) == set()


def test_a_folder_that_borrows_from_itself_is_read_once(history: list[str], repository: Path) -> None:
    alternates = repository / ".git/objects/info/alternates"
    alternates.write_text(f"{alternates.parents[1]}\n/nowhere\n\n# no\n\0\n", encoding="utf-8")
    assert descendants_of(place(repository), history[0], history) == set(history[1:])


def test_no_damaged_byte_of_a_pack_is_an_error(git: Git, history: list[str], repository: Path) -> None:
    git("repack", "--quiet", "-a", "-d", "-f")
    shutil.rmtree(repository / ".git/logs")
    for path in sorted((repository / ".git/objects/pack").glob("*.[ip][da][xc]*")):
        whole = path.read_bytes()
        path.chmod(0o600)
        for position in range(0, len(whole), max(1, len(whole) // 150)):
            for value in (0, 0xFF, whole[position] ^ 0x81):
                path.write_bytes(whole[:position] + bytes([value]) + whole[position + 1 :])
                assert descendants_of(place(repository), history[0], history) <= set(history)
        path.write_bytes(whole)
        for length in range(0, len(whole), max(1, len(whole) // 50)):
            path.write_bytes(whole[:length])
            assert descendants_of(place(repository), history[0], history) <= set(history)
        path.write_bytes(whole)
    assert descendants_of(place(repository), history[0], history) == set(history[1:])


@pytest.mark.parametrize(
    "delta",
    [b"", b"\x02\x00", b"\x03\x05\x90", b"\x03\xff\xff\xff\xff\x0f\x05abcde", b"\x03\x02\x00", b"\x03\x05\x81\xff"],
)
def test_a_damaged_delta_is_refused(delta: bytes) -> None:
    with pytest.raises(DamagedPackError):
        patched(b"abc", delta)


def test_a_delta_of_very_many_instructions_is_refused() -> None:
    one_byte = b"\x90\x01"  # copies the first byte
    assert patched(b"abc", b"\x03\x80\x20" + one_byte * 4_096) == b"a" * 4_096
    with pytest.raises(DamagedPackError):
        patched(b"abc", b"\x03\x81\x20" + one_byte * 4_097)


def test_a_commit_of_much_more_than_a_message_is_not_read(git: Git, repository: Path) -> None:
    git("commit", "--quiet", "--allow-empty", "--message", "x" * 70_000)
    git("repack", "--quiet", "-a", "-d")
    store = CommitStore(str(place(repository).common_dir))
    found = [store.find(git("rev-parse", name).strip()) for name in ("HEAD", "HEAD~1")]
    store.close()
    assert found[0] is None
    assert found[1] is not None


def test_no_commit_is_found_after_the_deadline(history: list[str], repository: Path) -> None:
    store = CommitStore(str(place(repository).common_dir), seconds=0.0)
    assert [store.find(commit) for commit in history] == [None] * len(history)
    store.close()
