from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from unified_state.errors import DamagedFileError, StorageError
from unified_state.search.vectors.models.model_files import PackageFile, version_of

CONTENT = b"weights"


def install(folder: Path, recorded: bytes | None = CONTENT) -> Path:
    """A package `tiny-model` with one file, and the file's digest among its records."""
    (folder / "tiny_model-1.0.dist-info").mkdir()
    (folder / "tiny_model-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
    )
    digest = urlsafe_b64encode(hashlib.sha256(recorded or b"").digest()).decode().rstrip("=")
    record = f"tiny_model/model.bin,{f'sha256={digest}' if recorded else ''},7\n"
    (folder / "tiny_model-1.0.dist-info" / "RECORD").write_text(record)
    (folder / "tiny_model").mkdir()
    path = folder / "tiny_model" / "model.bin"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture(autouse=True)
def importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the test's folder counts as installed."""
    monkeypatch.syspath_prepend(tmp_path)


def test_a_file_is_found_without_importing_its_package(tmp_path: Path) -> None:
    path = install(tmp_path)
    (tmp_path / "tiny_model" / "__init__.py").write_text("raise SystemExit")
    assert PackageFile("tiny-model", "tiny_model/model.bin").path == str(path)


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    install(tmp_path).write_bytes(CONTENT.upper())
    with pytest.raises(DamagedFileError, match="not as it was installed; pip install --force-reinstall"):
        PackageFile("tiny-model", "tiny_model/model.bin")


def test_a_file_that_is_missing_is_told(tmp_path: Path) -> None:
    install(tmp_path).unlink()
    with pytest.raises(StorageError, match=r"model\.bin cannot be read: No such file"):
        PackageFile("tiny-model", "tiny_model/model.bin")


def test_a_file_without_a_recorded_digest_is_taken_as_it_is(tmp_path: Path) -> None:
    install(tmp_path, recorded=None)
    assert PackageFile("tiny-model", "tiny_model/model.bin").digest == hashlib.sha256(CONTENT).digest()


def test_a_package_that_is_not_installed_is_one_that_cannot_be_imported() -> None:
    with pytest.raises(ModuleNotFoundError, match="tiny-model"):
        PackageFile("tiny-model", "tiny_model/model.bin")


def test_another_content_is_another_version(tmp_path: Path) -> None:
    install(tmp_path, recorded=None)
    first = version_of(PackageFile("tiny-model", "tiny_model/model.bin"))
    (tmp_path / "tiny_model" / "model.bin").write_bytes(b"other weights")
    assert version_of(PackageFile("tiny-model", "tiny_model/model.bin")) != first
