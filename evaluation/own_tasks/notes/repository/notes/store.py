"""Notes in a file, a line each."""

from pathlib import Path


def load(path: Path) -> list[str]:
    """Return all notes."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
