"""A copy of the checkout in which faults are planted, with an environment whose package is the one of the copy.

The packages of the checkout's own environment are linked, not copied. Programs in `bin` are written anew with the
copy's interpreter, so every process that a test starts imports the copy.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.planted import ROOT, Fault

_LEFT_OUT = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", ".campaign", "build", "dist")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.+?)?)(?: - .*)?$", re.MULTILINE)
_PATIENCE = 900  # seconds for the tests of one fault
_NOTHING_FAILED = (0, 4, 5)  # also where a test is not there any more
HANGS = "(the tests do not end)"


class CopiedTree:
    """The copy in a folder."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        shutil.copytree(ROOT, self.root, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        self._environment = self.root / ".venv"
        self._python = self._environment / "bin" / "python"
        self._make_environment()
        self._check()

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """Plant a fault, and take it out again."""
        path = self.root / fault.file
        sound = path.read_text(encoding="utf-8")
        self._write(path, fault.planted_in(sound))
        try:
            yield
        finally:
            self._write(path, sound)

    def failing(self, tests: list[str]) -> str | None:
        """Return the first test that fails, in the order given, or None."""
        options = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
        return self._first_failure([str(self._python), "-m", "pytest", *options, *tests], {}, _PATIENCE)

    def failing_of_all(self) -> str | None:
        """Return a test that fails in `make test`, or None."""
        return self._first_failure(["make", "test"], {"PYTEST_ADDOPTS": "-x"}, None)

    def _first_failure(self, command: list[str], environment: dict[str, str], seconds: int | None) -> str | None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "MAKE"))}
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=kept | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return HANGS
        if process.returncode in _NOTHING_FAILED:
            return None
        found = _FAILED.search(printed)
        if found is None:
            message = f"{command} failed without a failing test:\n{printed[-2000:]}"
            raise RuntimeError(message)
        return found[1]

    def _write(self, path: Path, code: str) -> None:
        path.write_text(code, encoding="utf-8")
        # Python takes the bytecode of another text that has the same size and was written in the same second.
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)

    def _make_environment(self) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self._environment], check=True)
        packages = Path(sysconfig.get_path("purelib"))
        ours = self._environment / packages.relative_to(sys.prefix)
        for entry in packages.iterdir():
            if not entry.name.startswith("_editable_impl_"):
                (ours / entry.name).symlink_to(entry)
        (ours / "_editable_impl_unified_state.pth").write_text(f"{self.root}\n", encoding="utf-8")
        self._copy_programs()
        for stamp in ("product", "installed"):  # for make: nothing has to be installed
            (self._environment / stamp).touch()
        for entry in Path(sys.prefix).iterdir():  # older servers, and what checks pages
            if not (self._environment / entry.name).exists():
                (self._environment / entry.name).symlink_to(entry)

    def _copy_programs(self) -> None:
        for program in (Path(sys.prefix) / "bin").iterdir():
            copy = self._python.with_name(program.name)
            if not copy.exists() and program.is_file():
                content = program.read_bytes()
                if content.startswith(b"#!"):
                    content = content.replace(os.fsencode(sys.prefix), os.fsencode(self._environment))
                    copy.write_bytes(content.replace(os.fsencode(ROOT), os.fsencode(self.root)))  # a hook's launcher
                    copy.chmod(0o755)
                else:
                    copy.symlink_to(program)

    def _check(self) -> None:
        """Raise RuntimeError unless the copy's environment imports the copy, in any folder."""
        code = "import unified_state; print(unified_state.__file__)"
        command = [str(self._python), "-c", code]
        printed = subprocess.run(command, cwd="/", capture_output=True, text=True, check=True).stdout.strip()
        if not printed.startswith(f"{self.root}{os.sep}"):
            message = f"the copy in {self.root} is not what its environment imports: {printed}"
            raise RuntimeError(message)
