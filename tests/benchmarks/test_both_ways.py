"""A prompt that ends at the gate changes nothing of what is archived, and nothing of its order."""

from __future__ import annotations

import pytest

from benchmarks.both_ways import compared
from benchmarks.generated import Generator, line


@pytest.mark.usefixtures("no_settings")
@pytest.mark.parametrize(("seed", "stop_every"), [(1, 1), (2, 2), (3, 8)])
def test_the_export_is_the_same_whether_prompts_are_silent_or_open_the_archive(seed: int, stop_every: int) -> None:
    generator = Generator("s", seed, result_bytes=(200, 2_000))
    lines = [line(entry) for _ in range(8) for entry in generator.turn()]
    silent, whole = compared(lines, stop_every)
    assert (silent.prompts, whole.silent) == (8, 0)
    assert silent.silent >= 4
    assert silent.export.count(b"\n") > 40
    assert silent.export == whole.export
