"""Lines with those beside them, wherever they lie in a file."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unified_state.storage.tiers.json_around import lines_around
from unified_state.storage.tiers.json_files import LineFiles


@given(st.lists(st.sampled_from([0, 1, 7, 4094, 4095, 4096, 40_000]), min_size=1, max_size=8), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_each_line_comes_with_the_one_before_and_the_one_behind(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], data: st.DataObject
) -> None:
    files = LineFiles(str(tmp_path_factory.mktemp("files") / "p"))
    lines = [bytes([97 + number]) * length + b"\n" for number, length in enumerate(lengths)]
    files.append({"lines": b"".join(lines)})
    spans = list(pairwise(accumulate(map(len, lines), initial=0)))
    wanted = data.draw(st.lists(st.integers(0, len(lines) - 1), unique=True))
    near = {place for number in wanted for place in (number - 1, number, number + 1) if 0 <= place < len(lines)}
    found = lines_around(files, "lines", [spans[number][0] for number in sorted(wanted)])
    assert list(found.items()) == [(spans[place][0], lines[place]) for place in sorted(near)]


def test_a_file_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert lines_around(LineFiles(str(tmp_path / "p")), "lines", [0]) == {}
