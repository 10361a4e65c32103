"""Without a clone: one line installs a wheel that was built, and the program works as from a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def built_wheel(folder: Path) -> Path:
    """The wheel of this checkout."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (folder / "dist").iterdir()
    return wheel


def pip_for(place: Path) -> list[str | Path]:
    """This environment's pip, which works on another one: that takes a third of putting a pip into it."""
    return [sys.executable, "-m", "pip", "--python", place / "bin" / "python", "-q"]


def installed_program(place: Path, wheel: Path) -> None:
    """Install a wheel into an environment of its own, with the packages of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    subprocess.run([*pip_for(place), "install", "--no-index", "--no-deps", wheel], check=True)
    needed = [path for path in sys.path if path.endswith("site-packages")]
    (next((place / "lib").glob("*/site-packages")) / "needed.pth").write_text("\n".join(needed), encoding="utf-8")


def test_hooks_go_on_after_an_update_of_the_program_and_go_with_it(tmp_path: Path) -> None:
    """The installer replaces the launcher by its own script, which makes itself the launcher again."""
    place, project, home, wheel = tmp_path / "place", tmp_path / "project", tmp_path / "home", built_wheel(tmp_path)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    project.mkdir()
    installed_program(place, wheel)
    subprocess.run([place / "bin" / "unified-state", "install"], cwd=project, env=environment, check=True)
    launcher = place / "bin" / "unified-state-hook"
    fast = launcher.read_bytes()
    assert f"\npython='{place / 'bin' / 'python'}'\n".encode() in fast
    subprocess.run([*pip_for(place), "install", "--no-index", "--no-deps", "--force-reinstall", wheel], check=True)
    assert launcher.read_bytes() != fast
    doctor = subprocess.run(
        [place / "bin" / "unified-state", "doctor"], cwd=project, env=environment, capture_output=True, check=True
    )
    assert b"ok  hooks (local)  8 handlers" in doctor.stdout
    given = json.dumps({"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(project), "source": "startup"})
    for _ in range(2):
        done = subprocess.run(
            [launcher, "SessionStart", "brief"], input=given, env=environment, cwd=project, text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        assert done.stderr == ""
        assert launcher.read_bytes() == fast
    assert not list(home.rglob("hook.log"))
    subprocess.run([*pip_for(place), "uninstall", "-y", "unified-state"], check=True)
    assert not launcher.exists()
