from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.constraints.rules.globs import glob_matches, lies_within, path_matches


@given(st.text(alphabet="ab*?", max_size=8), st.text(alphabet="ab", max_size=8))
def test_a_glob_means_what_the_standard_library_takes_it_for(pattern: str, text: str) -> None:
    assert glob_matches(pattern, text) == fnmatchcase(text, pattern)


@pytest.mark.usefixtures("alarm")
def test_a_pattern_that_would_explode_as_a_regular_expression_does_not() -> None:
    assert not glob_matches("*a" * 150, "a" * 4_000 + "b")
    assert not path_matches("**/a/" * 60 + "b", "a/" * 1_000 + "c")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("migrations/**", "migrations/1.sql"),
        ("migrations/**", "migrations/a/b.sql"),
        ("migrations/*", "migrations/a/b.sql"),
        ("migrations/", "x/migrations/1.sql"),
        ("*.lock", "a/b/poetry.lock"),
        ("src/**/gen", "src/gen/a.py"),
        ("src/**/gen", "src/a/b/gen/a.py"),
        ("./secret", "secret"),
        ("src/*.py", "src/a.py"),
        ("**", "a"),
    ],
)
def test_a_pattern_of_paths_means_files_and_all_that_lies_below(pattern: str, path: str) -> None:
    assert path_matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("migrations/**", "src/migrations/1.sql"),
        ("./secret", "a/secret"),
        ("src/*.py", "src/a/b.py"),
        ("*.lock", "a.locks"),
        ("migrations/**", "migrations.md"),
        ("a", "."),
    ],
)
def test_a_pattern_of_paths_means_nothing_else(pattern: str, path: str) -> None:
    assert not path_matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "folder", "expected"),
    [
        ("src/migrations/**", "src", True),
        ("src/migrations/**", ".", True),
        ("src/migrations/**", "src/migrations", True),
        ("src/migrations/**", "doc", False),
        ("*.lock", "src", False),
    ],
)
def test_a_folder_may_hold_what_is_meant(pattern: str, folder: str, expected: bool) -> None:
    assert (lies_within(pattern, folder) or path_matches(pattern, folder)) == expected
