"""What runs where the repository is forked: the checks on three systems, the build of a release and of the site.

Invariant: nothing is published but by the two workflows, and by those only where the owner switched it on.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from unified_state.lib import package

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PUBLISHING = re.compile(r"twine upload|pypi-publish|deploy-pages|hatchling publish|npm publish|uv publish|gh release")

UPLOADING = re.compile(r"twine upload|pypi-publish|deploy-pages")  # tests of rules name other commands as examples


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_make_check_runs_on_linux_macos_and_windows() -> None:
    text = read(".github/workflows/check.yml")
    (systems,) = re.findall(r"system: \[(.*)\]", text)
    assert systems == "ubuntu-latest, macos-latest, windows-latest"
    assert "run: make check" in text


def test_a_release_is_built_and_checked_as_make_dist_does() -> None:
    assert "run: make dist" in read(".github/workflows/release.yml")
    recipe = read("Makefile").partition("\ndist:")[2].partition("\n\n")[0]
    for step in ("-m build", "twine check --strict", "unified-state demo"):
        assert step in recipe


def test_nothing_publishes_but_two_workflows_and_those_only_where_it_is_switched_on() -> None:
    publishing = {path.name for path in WORKFLOWS if PUBLISHING.search(path.read_text(encoding="utf-8"))}
    assert publishing == {"release.yml", "site.yml"}
    for name in publishing:
        job = read(f".github/workflows/{name}").partition("\n  publish:")[2]
        assert "if: vars.PUBLISH == 'yes'" in job
        assert not PUBLISHING.search(read(f".github/workflows/{name}").partition("\n  publish:")[0])
    for name in ("Makefile", ".ci/run"):
        assert not PUBLISHING.search(read(name))
    tests = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    assert [path for path in tests if UPLOADING.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_but_where_it_publishes(path: Path) -> None:
    before, _, job = path.read_text(encoding="utf-8").partition("\n  publish:")
    assert "permissions:\n  contents: read\n" in before
    assert "write" not in before
    assert "secrets." not in before + job


LINES = (package.install_line, package.upgrade_line, package.marketplace_line, lambda at: package.extra_line("mcp", at))


def test_one_constant_switches_every_install_line() -> None:
    assert [line("owner/name") for line in LINES] == [
        "uv tool install unified-state",
        "pip install --upgrade unified-state",
        "claude plugin marketplace add owner/name",
        "pip install 'unified-state[mcp]'",
    ]


def pages_and_messages() -> list[Path]:
    """Every file whose install lines a user may follow."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "hooks").glob("*.sh")]
    pages += [ROOT / "CONTRIBUTING.md", *(ROOT / "skills").rglob("*.md"), *(ROOT / "commands").glob("*.md")]
    return pages + [path for path in (ROOT / "unified_state").rglob("*.py") if path.name != "package.py"]


def test_an_install_line_names_a_clone_a_wheel_or_a_package_that_we_require() -> None:
    """Anybody may publish a package under a name that is free."""
    wanted = re.compile(r"\b(?:pip|pipx|uv tool) install((?: -[-\w]+)*) ['\"]?([^\s'\"`]+)")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [
        *project["dependencies"],
        *(one for extra in project["optional-dependencies"].values() for one in extra),
    ]
    known = {re.split(r"[^-\w]", one)[0] for one in required}
    found = {
        f"{path.name}: {name}"
        for path in [*pages_and_messages(), ROOT / "unified_state" / "lib" / "package.py"]
        for _, name in wanted.findall(path.read_text(encoding="utf-8"))
        if not (name.startswith((".", "{", "/", "$", "-")) or re.split(r"[^-\w]", name)[0] in known)
    }
    once_published = {"package.py: unified-state", "package.py: unified-state[{extra}]"}
    assert found - once_published - {"first.sh: or"} == set()  # the last one is a sentence
    told = package.extra_line("postgres", None)
    assert ("'.[postgres]'" in told, "'./unified_state-0.1.0-py3-none-any.whl[postgres]'" in told) == (True, True)


def test_no_line_names_the_package_before_it_is_published() -> None:
    assert package.PUBLISHED_AT is None
    by_name = re.compile(r"(?:pip|pipx|uv tool|uvx|pipx run)(?: install)?(?: -[-\w]+)* '?unified-state\b(?!\.)")
    pages = pages_and_messages()
    found = {path.name: by_name.findall(path.read_text(encoding="utf-8")) for path in pages}
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert not any(by_name.search(line(None)) for line in LINES)
