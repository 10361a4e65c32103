"""Repositories that try to have their programs run: what they bring along, and a mark for every program that ran."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from unified_state.hosts.install.hook_launcher import launcher_text

PROGRAMS = (
    "git", "sh", "bash", "env", "rm", "mkdir", "cat", "uname", "ldconfig", "gcc", "ld", "python3", "unified-state",
    "git-status", "git-lfs", "git-crypt", "node", "less", "ssh", "gpg",
)  # fmt: skip
HOOKS = (
    "post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout", "reference-transaction", "pre-auto-gc",
    "proc-receive", "post-rewrite", "sendemail-validate", "p4-changelist",
)  # fmt: skip

# Variables of git whose value is a program; {trap} is the path of one.
KEYS = (
    "core.fsmonitor={trap}", "core.hooksPath={hooks}", "core.pager={trap}", "core.editor={trap}", "core.askPass={trap}",
    "core.sshCommand={trap}", "core.gitProxy={trap}", "core.alternateRefsCommand={trap}", "sequence.editor={trap}",
    "pager.status={trap}", "pager.log={trap}", "pager.diff={trap}", "interactive.diffFilter={trap}",
    "alias.status=!{trap}", "alias.log=!{trap}", "alias.diff=!{trap}", "alias.rev-parse=!{trap}",
    "alias.check-attr=!{trap}", "alias.check-ignore=!{trap}", "alias.version=!{trap}",
    "diff.external={trap}", "diff.trap.command={trap}", "diff.trap.textconv={trap}", "diff.trap.cachetextconv=true",
    "merge.trap.driver={trap}", "difftool.trap.cmd={trap}", "mergetool.trap.cmd={trap}", "trailer.trap.command={trap}",
    "gpg.program={trap}", "gpg.ssh.program={trap}", "gpg.x509.program={trap}", "log.showSignature=true",
    "credential.helper=!{trap}", "uploadpack.packObjectsHook={trap}", "browser.trap.cmd={trap}", "man.trap.cmd={trap}",
    "remote.origin.url=ext::{trap}", "remote.origin.uploadpack={trap}", "remote.origin.vcs=trap",
    "protocol.allow=always", "status.submoduleSummary=true", "tar.trap.command={trap}", "submodule.recurse=true",
    "submodule.inner.update=!{trap}", "url.ext::{trap}.insteadOf=https://", "gc.auto=1",
    "maintenance.auto=true", "fetch.recurseSubmodules=true",
)  # fmt: skip

# Names that a filter may have; attributes can name none with a space.
FILTERS = ("lfs", "git-crypt", "trap", "a.b", 'quo"te', "back\\slash", "ü", "[x]", "x#y", "x;y", "-c", "CamelCase")


class Hostile:
    """A repository, and the programs that it wants to have run."""

    def __init__(self, folder: Path, marks: Path) -> None:
        self.folder, self._marks = folder, marks
        self.trap = marks / "trap"
        marks.mkdir()
        self.plant(self.trap)

    @property
    def ran(self) -> list[str]:
        """The programs that were run so far."""
        return sorted({path.read_text() for path in self._marks.glob("ran.*")})

    def forget(self) -> None:
        """Remove the marks of the programs that ran so far."""
        for path in self._marks.glob("ran.*"):
            path.unlink()

    def plant(self, path: Path) -> None:
        """A program that leaves a mark. As a filter it passes on what it is given."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\nprintf %s "$0 $*" >"{self._marks}/ran.$$"\nexec /bin/cat\n')
        path.chmod(0o755)

    def git(self, *arguments: str, cwd: Path | None = None, fails: bool = False) -> str:
        """Run git as a user does."""
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=cwd or self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert fails or done.returncode == 0, done.stderr
        return done.stdout

    def commit(self, cwd: Path | None = None) -> None:
        """Commit all that there is."""
        self.git("add", "--all", ".", cwd=cwd)
        self.git("commit", "--quiet", "--allow-empty", "--message", "more", cwd=cwd)

    def filters(self, *names: str, kinds: tuple[str, ...] = ("clean", "smudge", "process")) -> str:
        """Sections of a configuration that make the trap each of some filters, and required."""
        lines = []
        for name in names:
            quoted = name.replace("\\", "\\\\").replace('"', '\\"')
            lines += [f'[filter "{quoted}"]', *(f"\t{kind} = {self.trap}" for kind in kinds), "\trequired = true"]
        return "\n".join(lines) + "\n"

    def filtered_files(self, *names: str, folder: Path | None = None) -> None:
        """Commit a file for each of some filters, then change it so that its size stays: git has to look into it."""
        folder = folder or self.folder
        attributes = "".join(f"file{number} filter={name}\n" for number, name in enumerate(names))
        (folder / ".gitattributes").write_text(attributes)
        for number in range(len(names)):
            (folder / f"file{number}").write_text("before\n")
        self.commit(cwd=folder)
        for number in range(len(names)):
            (folder / f"file{number}").write_text("behind\n")
            os.utime(folder / f"file{number}", (1, 1))


def becoming_hostile(repository: Path, home: Path, marks: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    """Return a repository into which anything may be planted, and give git a configuration that no other test reads."""
    config = home / "own.gitconfig"
    config.write_bytes(Path(os.environ["GIT_CONFIG_GLOBAL"]).read_bytes())
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    return Hostile(repository, marks)


def append(path: Path, text: str) -> None:
    """Add text to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def all_keys(hostile: Hostile) -> None:
    """Every variable that names a program, and every hook."""
    (hostile.folder / ".gitattributes").write_text("* diff=trap merge=trap\n")
    hostile.commit()
    for name in HOOKS:
        hostile.plant(hostile.folder / ".git" / "hooks" / name)
        hostile.plant(hostile.folder / "hooks" / name)
    for setting in KEYS:
        key, _, value = setting.partition("=")
        hostile.git("config", "--add", key, value.format(trap=hostile.trap, hooks=hostile.folder / "hooks"))
    (hostile.folder / "a.py").write_text("print(2)\n")


def promisor(hostile: Hostile) -> None:
    """A partial clone that lacks what git is asked for."""
    hostile.commit()
    tree = hostile.git("rev-parse", "HEAD^{tree}").strip()
    (hostile.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{hostile.trap}", "protocol.ext.allow": "always",
        "core.sshCommand": str(hostile.trap),
    }.items():  # fmt: skip
        hostile.git("config", key, value, fails=True)


def filter_names(hostile: Hostile) -> None:
    """Filters with names of every kind."""
    hostile.filtered_files(*FILTERS)
    append(hostile.folder / ".git" / "config", hostile.filters(*FILTERS))


def filter_with_equals_sign(hostile: Hostile) -> None:
    """A filter that `git -c` cannot name."""
    hostile.filtered_files("a=b")
    append(hostile.folder / ".git" / "config", hostile.filters("a=b"))


def worktree_config(hostile: Hostile) -> None:
    """A filter in the configuration of one worktree."""
    hostile.filtered_files("trap")
    hostile.git("config", "extensions.worktreeConfig", "true")
    (hostile.folder / ".git" / "config.worktree").write_text(hostile.filters("trap"))


def users_own(hostile: Hostile) -> None:
    """Git LFS as its installer sets it up, in the user's own configuration."""
    hostile.filtered_files("lfs")
    append(Path(os.environ["HOME"]) / ".gitconfig", hostile.filters("lfs"))
    append(Path(os.environ["GIT_CONFIG_GLOBAL"]), hostile.filters("lfs"))


def submodule(hostile: Hostile) -> None:
    """Submodules in three forms, one inside the other: their configurations have the filters."""
    other = hostile.folder.parent / "other"
    other.mkdir()
    hostile.git("init", "--quiet", "--initial-branch", "main", cwd=other)
    hostile.filtered_files("trap", folder=other)
    hostile.commit(cwd=other)
    for name in ("inner", "plain"):
        hostile.git("submodule", "--quiet", "add", str(other), name)
    hostile.git("submodule", "--quiet", "add", str(other), "deep", cwd=hostile.folder / "inner")
    hostile.commit(cwd=hostile.folder / "inner")
    hostile.commit()
    git_dir = hostile.folder / ".git" / "modules"
    (hostile.folder / "plain" / ".git").unlink()
    (git_dir / "plain").rename(hostile.folder / "plain" / ".git")
    hostile.git("config", "--file", "plain/.git/config", "--unset", "core.worktree")
    configs = (git_dir / "inner" / "config", git_dir / "inner" / "modules" / "deep" / "config")
    for config in (*configs, hostile.folder / "plain" / ".git" / "config"):
        append(config, hostile.filters("trap"))
    for folder in ("inner", "plain", "inner/deep"):
        (hostile.folder / folder / "file0").write_text("BEHIND\n")
        os.utime(hostile.folder / folder / "file0", (1, 1))


def broken_around_whole(hostile: Hostile) -> None:
    """A folder whose `.git` is no repository, so that git takes the one around it."""
    hostile.filtered_files("trap")
    append(hostile.folder / ".git" / "config", hostile.filters("trap"))
    (hostile.folder / "session" / ".git").mkdir(parents=True)
    hostile.folder /= "session"


def bare_in_a_clone(hostile: Hostile) -> None:
    """A folder that looks like a bare repository, and came by a real clone."""
    for name, content in {
        "HEAD": "ref: refs/heads/main\n",
        "config": f"[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = {hostile.trap}\n" + hostile.filters("trap"),
        "objects/keep": "",
        "refs/heads/keep": "",
        "info/exclude": ".venv\n",
    }.items():
        (hostile.folder / "pkg" / name).parent.mkdir(parents=True, exist_ok=True)
        (hostile.folder / "pkg" / name).write_text(content)
    hostile.plant(hostile.folder / "pkg" / ".venv" / "bin" / "unified-state")
    hostile.git("add", "--force", ".")
    hostile.git("commit", "--quiet", "--message", "a package")
    hostile.git("clone", "--quiet", str(hostile.folder), "../clone")
    hostile.folder = hostile.folder.parent / "clone" / "pkg"


def programs(hostile: Hostile) -> None:
    """Programs by the names of those that we or our libraries might look for."""
    for folder in (".", "bin", "node_modules/.bin", ".venv/bin"):
        for name in PROGRAMS:
            hostile.plant(hostile.folder / folder / name)
    hostile.commit()


def settings(hostile: Hostile) -> None:
    """Handlers in a project's settings that pass themselves off as ours."""
    handlers = [{"command": f"./{folder}/unified-state-hook", "args": ["Stop"]} for folder in ("trap", "launcher")]
    hostile.plant(hostile.folder / "trap" / "unified-state-hook")
    hostile.plant(hostile.folder / "python")
    launcher = hostile.folder / "launcher" / "unified-state-hook"
    launcher.parent.mkdir()
    launcher.write_bytes(launcher_text(str(hostile.folder / "python"), str(hostile.folder)))
    launcher.chmod(0o755)
    folder = hostile.folder / ".claude"
    folder.mkdir()
    for name, handler in zip(("settings.json", "settings.local.json"), handlers, strict=True):
        text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", **handler}]}]}})
        (folder / name).write_text(text)


CORPUS: tuple[Callable[[Hostile], None], ...] = (
    all_keys, promisor, filter_names, filter_with_equals_sign, worktree_config, users_own, submodule,
    broken_around_whole, bare_in_a_clone, programs, settings,
)  # fmt: skip
# Of these git itself runs something when it is asked for the status.
LIVE = (
    all_keys, filter_names, filter_with_equals_sign, worktree_config, users_own, submodule, broken_around_whole,
)  # fmt: skip
