from __future__ import annotations

import os

import pytest

from unified_state.lib.package import PACKAGE_ROOT, asset_path, package_path


@pytest.mark.parametrize(
    "names",
    [
        ("commands", "context-compact.md"),
        ("schemas", "unified-session-state-3.schema.json"),
    ],
)
def test_what_travels_with_the_package_is_found(names: tuple[str, ...]) -> None:
    assert os.path.isfile(asset_path(*names))


def test_a_data_file_beside_code_is_found() -> None:
    assert os.path.isfile(package_path("lib", "o200k_base.ranks"))


def test_the_root_holds_the_package() -> None:
    assert os.path.isfile(os.path.join(PACKAGE_ROOT, "unified_state", "__init__.py"))
