from __future__ import annotations

from unified_state.memory.archive.archive import Archive
from unified_state.memory.state_file.page_out import calibrated_at, keep_calibration
from unified_state.memory.state_file.state_file import token_scale


def test_without_a_measurement_a_token_is_a_token(archive: Archive) -> None:
    assert (token_scale(archive), calibrated_at(archive)) == (1, None)


def test_a_measurement_is_kept_with_its_time(archive: Archive) -> None:
    keep_calibration(archive, 1.25, 1000)
    keep_calibration(archive, 1.31, 2000)
    assert (token_scale(archive), calibrated_at(archive)) == (1.31, 2000)
