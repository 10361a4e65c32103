"""Compilers for what tests preload or load: where one is missing, the test skips and says how to install it.

With UNIFIED_STATE_REQUIRE_ELSEWHERE=1, as in continuous integration, that is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_REQUIRED = "UNIFIED_STATE_REQUIRE_ELSEWHERE"


def compile_with(program: str, packages: str, *arguments: str) -> None:
    """Run a compiler; without it the test is skipped, or fails where nothing may be missing."""
    if not shutil.which(program) or subprocess.run([program, *arguments], capture_output=True, check=False).returncode:
        reason = f"`{program}` is missing or does not work; apt-get install {packages}"
        (pytest.fail if os.environ.get(_REQUIRED) == "1" else pytest.skip)(reason)


def shared_library(source: Path, folder: Path) -> Path:
    """Compile a C file to a library for LD_PRELOAD."""
    library = folder / f"{source.stem}.so"
    compile_with("cc", "gcc libc6-dev", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl")
    return library
