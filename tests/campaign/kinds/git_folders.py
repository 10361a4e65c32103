"""What lies in a repository and its `.git`: `> PATH` begins a file, `@ PATH TARGET` is a link, `- PATH` is removed.

Nothing that the repository names may run. Behind the repair of the repository everything is there.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from tests.campaign.kind import Kind, expect
from tests.campaign.world import DENIED, World

_CONFIG = "> .git/config\n[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
_TRAP = '> trap\n#!/bin/sh\ntouch "@HOME@/../ran"\n'
_SETTINGS = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "@TRAP@"}]}]}}
_FILTER = '[filter "x"]\n\tclean = @TRAP@\n\tprocess = @TRAP@\n> .gitattributes\n* filter=x\n> a.py\nxxxxxxx(2)\n'
_INCLUDED = "> .git/other\n[diff]\n\texternal = @TRAP@\n[alias]\n\tstatus = !@TRAP@\n"
_WORKTREE = "[extensions]\n\tworktreeConfig = true\n> .git/config.worktree\n[core]\n\tfsmonitor = @TRAP@\n"
_MODULE = "> x/.git\ngitdir: ../.git/modules/x\n> .git/modules/x/HEAD\nref: y\n"


def seeds() -> list[bytes]:
    """Folders that are damaged, and folders that mean harm."""
    texts = (
        f"{_CONFIG}\tfsmonitor = @TRAP@\n\thooksPath = .\n\tpager = @TRAP@\n", f"{_CONFIG}{_FILTER}",
        f"{_CONFIG}[include]\n\tpath = other\n{_INCLUDED}", f"{_CONFIG}{_WORKTREE}",
        f"{_CONFIG}\tworktree = ..\n[include]\n\tpath = config\n", "> .git/HEAD\nref: refs/heads/other\n",
        "> .git/HEAD\n0123456789012345678901234567890123456789\n", "> .git/HEAD\nref: ../../x\n", "- .git/HEAD\n",
        "> .git/packed-refs\n# pack-refs with: peeled\n0123 refs/heads/main\n", "- .git/index\n", "- .git\n",
        "> .git/index\nDIRC\n", "- .git/unified-state-id\n", "> .git/unified-state-id\n{}\n", "- .claude\n",
        "> .git/unified-state-id\nx\n", "> HEAD\nref: refs/heads/main\n> objects/x\n> refs/x\n",
        "- .git\n> .git\ngitdir: elsewhere\n> elsewhere/HEAD\nref: refs/heads/main\n> elsewhere/commondir\n..\n",
        "- .git/info\n@ .git/info /\n", "@ .git/unified-state-id a.py\n",
        "@ .claude/unified-session-state.json ../a.py\n",
        "> .claude/unified-state.toml\nenabled = false\nmask_secrets = false\nsearch_vectors = 7\n",
        f"> .claude/settings.json\n{json.dumps(_SETTINGS)}\n", f'> .gitmodules\n[submodule "x"]\n\tpath = x\n{_MODULE}',
        "> .venv/bin/unified-state\n#!/bin/sh\n@TRAP@\n> git\n#!/bin/sh\n@TRAP@\n",
    )  # fmt: skip
    return [(text + _TRAP if "@TRAP@" in text else text).encode() for text in texts]


def meet(world: World, data: bytes) -> None:
    """A session begins, calls a tool, compacts and is looked at in such a folder; then the folder is repaired."""
    ran = world.root / "ran"
    _build(world.repository, data)
    world.is_laid_out()
    world.hook("SessionStart", "brief", source="startup")
    world.hook("PreToolUse", **DENIED)
    world.hook("UserPromptSubmit", prompt="go on")
    world.hook("PreCompact", trigger="auto")
    world.run("status")
    added = world.run("decision", "add", "one more", "--rationale", "r")
    listed = world.run("decision", "list")
    expect(added.code or listed.code or "one more" in listed.out, f"what was recorded is gone: {added} {listed}")
    expect(not ran.exists(), "a program of the repository ran")
    world.repair()
    world.check_nothing_lost()


def _build(folder: Path, data: bytes) -> None:
    """Lay out what the input says, in that folder alone."""
    path: Path | None = None
    lines: list[bytes] = []
    for line in [*data.split(b"\n"), b"> "]:
        if line[:2] in {b"> ", b"@ ", b"- "}:
            if path is not None:
                _write(path, b"\n".join([*lines, b""]))
            words = line[2:].split(b" ")
            path, lines = _inside(folder, words[0]), []
            if path is not None and line[:1] != b">":
                _remove(path)
                if line[:1] == b"@" and len(words) > 1 and words[1] and b"\0" not in words[1] and path.parent.is_dir():
                    path.symlink_to(_target(folder, path, words[1]))
                path = None
        else:
            lines.append(line)


def _inside(folder: Path, name: bytes) -> Path | None:
    """The path that a name means, if it lies in the folder and no link leads out of it."""
    text = os.fsdecode(name)
    if not text or "\0" in text or any(len(part) > 200 for part in name.split(b"/")) or len(name) > 1000:
        return None
    path = folder / os.path.normpath(text)
    is_inside = Path(os.path.realpath(path.parent)).is_relative_to(folder) and path.is_relative_to(folder)
    return path if is_inside and path != folder and ".." not in path.relative_to(folder).parts else None


def _target(folder: Path, path: Path, name: bytes) -> str:
    """Where a link leads: never to a device or a file of the machine that may not be read to its end."""
    text = os.fsdecode(name)
    real = os.path.realpath(os.path.join(path.parent, text))
    return text if real.startswith(str(folder.parent)) or real == "/" else str(folder / "a.py")


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()
        path.write_bytes(content)
        path.chmod(0o755)
    except (OSError, ValueError):
        return  # the name of a folder, or of something behind a file


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


KIND = Kind(
    "git folders", seeds, meet,
    ("> .git/config", "> .git/HEAD", "> .git/info/exclude", "> .git/index", "> .git/commondir", "> .git/packed-refs",
     "@ .git/",
     "- .git/", "gitdir: ", "ref: refs/heads/", "[core]\n\t", "worktree = ", "fsmonitor = ", "= @TRAP@\n",
     "[include]\n\tpath = ",
     '[filter "x"]\n\tclean = ', "bare = true", "extensions.", "objectFormat = sha256", "> .claude/unified-state.toml"),
)  # fmt: skip
