"""What is shipped: the wheel carries the whole plugin, so that an installed package is one too."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from unified_state.lib.package import WHEEL

ROOT = Path(__file__).parents[2]
FOLDERS = (".claude-plugin", "bin", "commands", "hooks", "schemas", "skills")


@pytest.fixture
def shipped() -> dict[str, bytes]:
    """Every file of the top-level folders that the program or the client reads."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(ROOT)): path.read_bytes() for path in [*paths, ROOT / ".mcp.json"]}


def build(target: str, folder: Path) -> Path:
    """Build what `pip install` takes."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    return build("wheel", tmp_path_factory.mktemp("wheel"))


def test_the_wheel_has_every_folder_that_lies_beside_the_package(wheel: Path, shipped: dict[str, bytes]) -> None:
    with ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.startswith("unified_state/assets/")}
        for name, content in shipped.items():
            assert archive.read(f"unified_state/assets/{name}") == content
            inside.remove(f"unified_state/assets/{name}")
        assert not [name for name in inside if name.split("/")[2] in FOLDERS]
        assert archive.getinfo("unified_state/assets/bin/unified-state").external_attr >> 16 & 0o111 == 0o111


def test_the_wheel_has_nothing_but_the_package(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        folders = {name.partition("/")[0] for name in archive.namelist()}
    assert {folder for folder in folders if not folder.endswith((".data", ".dist-info"))} == {"unified_state"}


def test_install_lines_name_the_wheel_that_is_built(wheel: Path) -> None:
    assert f"dist/{wheel.name}" == WHEEL


def test_the_source_archive_has_them_too(tmp_path: Path, shipped: dict[str, bytes]) -> None:
    with tarfile.open(build("sdist", tmp_path)) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert shipped.keys() <= names


def test_an_installation_without_extras_stays_small(wheel: Path) -> None:
    with ZipFile(wheel) as inside:
        (metadata,) = [name for name in inside.namelist() if name.endswith(".dist-info/METADATA")]
        told = Parser().parsestr(inside.read(metadata).decode())
    needed = {re.split(r"[^\w-]", line)[0] for line in told.get_all("Requires-Dist", []) if "extra ==" not in line}
    assert needed == {"filelock", "gitpython", "jsonschema", "pydantic", "shtab", "tiktoken"}
    assert wheel.stat().st_size < 3_000_000
