"""For the acceptance tests: a repository with the product in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .product import Project


@pytest.fixture
def project(repository: Path, home: Path) -> Project:
    """A git repository in which nothing is recorded yet."""
    return Project(repository, home)
