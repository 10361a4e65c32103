"""What is looked up in a working tree: of hostile ones nothing outside, and nothing that blocks."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from unified_state.memory.working_tree.tree_view import TreeView, timed_view

MAKEFILE = "CFLAGS = -O2\n.PHONY: lint\nlint check:\n\truff check\n"
PACKAGE = '{"scripts": {"build": "tsc"}, "dependencies": {"react": "18.2.0", "vue": "^3.4.1"}}'


@pytest.fixture
def view(tmp_path: Path) -> TreeView:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    (tree / "package.json").write_text(PACKAGE, encoding="utf-8")
    (tree / "limiter.py").write_text("def with_retry():\r\n    pass\r\n", encoding="utf-8")
    (tree / "限流").mkdir()
    (tree / "限流" / "规则.py").write_text("def with_规则_max(): ...", encoding="utf-8")
    (tmp_path / "secret.py").write_text("outside_name\n", encoding="utf-8")
    return TreeView(str(tree))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return tmp_path / "tree"


@pytest.mark.parametrize(
    "command",
    ["make test", "make release X=1", "npm run lint", "npm test", "./tools/run.sh --all", "bash tools/a.sh"],
)
def test_a_command_whose_target_or_script_is_nowhere_is_missing(view: TreeView, command: str) -> None:
    assert view.missing_command(command)


@pytest.mark.parametrize(
    "command",
    [
        *("make lint", "make check && ./x/y.sh", "make", "make -C sub all", "make $TARGET", "npm run build", "npm ci"),
        *("npm run -w web lint", "python -m pytest", "pytest -q", "git push origin", "/usr/bin/a.sh x", "", "   "),
        *("bun run src/index.ts", "bun test", "bun run lint", "yarn run eslint", "pnpm run eslint", "yarn test"),
        *("npm start", "npm run env", "npm run lint --if-present", "application/vnd.api+json; charset=utf-8"),
        *("application/vnd.api+json and more", "image/svg.xml x", "make out/app.o", "make app.o", "a/b.tar.gz x"),
        *("python limiter.py", "curl https://x.example/a.sh -o", "bash ../secret.sh", "just", "make " + "x" * 9 + "*"),
    ],
)
def test_a_command_of_which_that_is_not_certain_is_not_missing(view: TreeView, command: str) -> None:
    assert not view.missing_command(command)


def test_a_makefile_that_includes_others_may_have_any_target(view: TreeView, tree: Path) -> None:
    (tree / "Makefile").write_text("include more.mk\n", encoding="utf-8")
    assert not view.missing_command("make test")


@pytest.mark.parametrize(
    ("file", "text", "name", "now"),
    [
        ("requirements.txt", "redis==5.2.0\nhiredis==1.0.0\n", "redis", "5.2.0"),
        ("requirements.txt", "redis>=5.2.0\n", "redis", ""),
        ("uv.lock", '[[package]]\nname = "redis"\nversion = "5.2.0"\n', "redis", "5.2.0"),
        ("Cargo.lock", '[[package]]\r\nname = "serde"\nversion = "5.2.0"\n', "serde", "5.2.0"),
        ("go.mod", "module m\ngo 1.22\nrequire (\n\tgithub.com/x/redis v5.2.0\n)\n", "redis", "5.2.0"),
        ("package-lock.json", '{"packages": {"node_modules/redis": {\n "version": "5.2.0"}}}', "redis", "5.2.0"),
        (".python-version", "5.2.0\n", "python", ""),  # code may have to run on others
        (".tool-versions", "node 5.2.0\n", "node", ""),
        ("go.mod", "module m\ngo 5.2.0\n", "go", ""),
        ("pyproject.toml", 'dependencies = [\n  "redis==5.2.0",\n]\n', "redis", "5.2.0"),
        ("requirements.txt", "", "redis", ""),
        ("requirements.txt", "\ufeffredis", "redis", ""),
    ],
)
def test_the_version_that_a_tree_pins_is_found(
    view: TreeView, tree: Path, file: str, text: str, name: str, now: str
) -> None:
    (tree / file).write_text(text, encoding="utf-8")
    assert view.other_version(name, "5.0.1") == now
    assert TreeView(str(tree)).other_version(name, "5.2.0") == ""
    assert TreeView(str(tree)).other_version("unheard-of", "5.0.1") == ""


def test_a_range_of_versions_says_nothing(view: TreeView) -> None:
    assert (view.other_version("react", "18.1.0"), view.other_version("vue", "2.0.0")) == ("18.2.0", "")


def test_an_identifier_is_looked_for_in_its_file(view: TreeView) -> None:
    assert not view.lacks("limiter.py", "with_retry")
    assert view.lacks("limiter.py", "without_retry")
    assert not view.lacks("missing.py", "with_retry")  # the file itself is gone, which says nothing about the name
    assert view.lacks("限流/规则.py", "with_retry")
    assert not view.lacks("限流/规则.py", "größe")  # a file may have it in another encoding
    assert view.is_gone("限流/旧.py")
    assert not view.is_gone("限流/规则.py")


@pytest.mark.parametrize(
    "path", ["../secret.py", "/etc/passwd", "a/../../secret.py", "..\\secret.py", "", "\0", "x" * 999]
)
def test_nothing_outside_the_tree_is_looked_up(view: TreeView, path: str) -> None:
    assert not view.is_gone(path)
    assert view.content(path) is None


def test_a_link_out_of_the_tree_is_not_followed(view: TreeView, tree: Path) -> None:
    (tree / "link.py").symlink_to("../secret.py")
    (tree / "folder").symlink_to("..")
    (tree / "inner.py").symlink_to("limiter.py")
    assert view.content("link.py") is None
    assert view.content("folder/secret.py") is None
    assert not view.lacks("inner.py", "with_retry")
    assert not view.is_gone("link.py")


def test_what_is_no_text_file_says_nothing(view: TreeView, tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    (tree / "folder.py").mkdir()
    (tree / "binary.py").write_bytes(b"with\0out")
    (tree / "large.py").write_bytes(b"x" * (1 << 20))
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(tree)  # the path of a socket is short
        server.bind("socket.py")
        os.chdir(here)
    for name in ("pipe.py", "folder.py", "binary.py", "large.py", "socket.py"):
        assert view.content(name) is None
        assert not view.lacks(name, "with_retry")
        assert not view.is_gone(name)


def test_a_makefile_that_is_a_pipe_blocks_nothing(view: TreeView, tree: Path) -> None:
    (tree / "Makefile").unlink()
    os.mkfifo(tree / "Makefile")
    assert not view.missing_command("make test")


def test_once_the_time_is_over_files_that_were_read_say_nothing_either(tree: Path, view: TreeView) -> None:
    (tree / "requirements.txt").write_text("redis==5.2.0\nflask==3.0.0\n", encoding="utf-8")
    has_time = True
    timed = TreeView(str(tree), has_time=lambda: has_time)
    assert timed.other_version("redis", "5.0.1") == "5.2.0"
    assert timed.missing_command("make test")
    assert timed.lacks("limiter.py", "without_retry")
    has_time = False
    assert timed.other_version("flask", "2.0.0") == ""
    assert not timed.missing_command("make test")
    assert not timed.lacks("limiter.py", "without_retry")


def test_beyond_its_limits_nothing_is_gone(tree: Path, view: TreeView) -> None:
    few = TreeView(str(tree), lookups=1)
    assert few.is_gone("a.py")
    assert not few.is_gone("b.py")
    small = TreeView(str(tree), size=30)
    assert small.content("limiter.py") is not None
    assert small.content("Makefile") is None
    late = timed_view(str(tree), seconds=0)
    assert not late.is_gone("a.py")
    assert not late.missing_command("make test")
    assert view.is_gone("a.py")
