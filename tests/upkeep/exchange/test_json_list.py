"""The values of a JSON list are read one by one, and are those that a whole parser gives."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import any_json
from unified_state.upkeep.exchange import foreign_files
from unified_state.upkeep.exchange.foreign_files import list_values

JSON = any_json(leaves=20)


@pytest.fixture(autouse=True, scope="module")
def narrow() -> Iterator[None]:
    """So few characters at once that every kind of value is cut somewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign_files, "_AT_ONCE", 3)
        yield


@given(values=st.lists(JSON, max_size=6), indent=st.none() | st.integers(0, 3))
def test_a_list_is_read_as_it_was_written_wherever_it_is_cut(values: list[object], indent: int | None) -> None:
    assert list(list_values(io.StringIO(json.dumps(values, indent=indent) + "\r\n"))) == values


@pytest.mark.parametrize(
    "text", ["", " ", "{}", "[", "[1", "[1,", "[1,]", "[1 2]", "[1}", '["a', "[1]x", "[1][", "[tru]", "[,1]"]
)
def test_what_is_no_whole_list_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        list(list_values(io.StringIO(text)))


def test_a_large_file_is_never_all_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.json"
    entry = json.dumps({"id": "x", "content": "😀" + "y" * 4000}, indent=2, ensure_ascii=False)
    path.write_text(f"[{','.join([entry] * 10_000)}]", encoding="utf-8")
    monkeypatch.setattr(foreign_files, "_AT_ONCE", 1 << 20)
    tracemalloc.start()
    try:
        with open(path, encoding="utf-8") as file:
            assert sum(1 for _ in list_values(file)) == 10_000
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 40_000_000
    assert most < 20_000_000


def test_a_value_that_has_no_end_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_files, "_LONGEST_ENTRY", 1000)
    with pytest.raises(ValueError, match="too long"):
        list(list_values(io.StringIO('["' + "x" * 3_000_000)))
