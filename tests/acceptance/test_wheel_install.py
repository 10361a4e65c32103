"""Without a clone: one line installs a wheel that was built, and the program works as from a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_one_line_without_a_clone_works_from_a_built_wheel(tmp_path: Path) -> None:
    """The packages that it needs come from this environment, so that the test loads nothing."""
    place, project, home = tmp_path / "place", tmp_path / "project", tmp_path / "home"
    for folder in (project, home):
        folder.mkdir(exist_ok=True)
    built = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path / "dist")]
    subprocess.run(built, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").iterdir()
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python, program = place / "bin" / "python", place / "bin" / "unified-state"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", str(wheel)], check=True)
    needed = [path for path in sys.path if path.endswith("site-packages")]
    (next((place / "lib").glob("*/site-packages")) / "needed.pth").write_text("\n".join(needed), encoding="utf-8")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    for words in (["install"], ["doctor"], ["demo"], ["uninstall"]):
        done = subprocess.run(
            [program, *words], cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done
        assert str(ROOT) not in done.stdout
    assert (place / "bin" / "unified-state-hook").exists()
