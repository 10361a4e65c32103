from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.processes import run_at_once
from unified_state.errors import StorageError
from unified_state.model.step import TEXT, Step
from unified_state.project.place import KEY_FILE
from unified_state.secrets.masker import Masker

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OTHER = "ghp_" + "Z1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_is_masked_with_its_kind_and_a_tag(masker: Masker) -> None:
    before, mask, after = masker.text(f"use {SECRET} now").partition("[MASKED github-token ")
    tag, _, rest = after.partition("]")
    assert (before, bool(mask), len(tag), rest) == ("use ", True, 8, " now")


def test_a_control_sequence_that_ends_with_the_first_letter_of_a_secret_does_not_hide_it(masker: Masker) -> None:
    assert SECRET not in masker.text(f"x\x1b[{SECRET}")


def test_the_ids_of_a_step_are_masked_too(masker: Masker) -> None:
    step = Step(uuid=SECRET, block=0, kind=TEXT, at=0, text="a", tool_use_id=OTHER)
    masked = masker.step(step)
    assert all(name.startswith("[MASKED github-token ") for name in (masked.uuid, masked.tool_use_id or ""))


def test_the_same_secret_has_the_same_tag_and_another_one_another(masker: Masker, data_dir: Path) -> None:
    first = masker.text(SECRET)
    assert Masker(str(data_dir)).text(SECRET) == first
    assert masker.text(OTHER) != first


def test_another_user_has_another_tag(masker: Masker, tmp_path: Path) -> None:
    assert Masker(str(tmp_path / "theirs")).text(SECRET) != masker.text(SECRET)


def test_a_text_without_secrets_is_the_very_same(masker: Masker, data_dir: Path) -> None:
    text = "nothing to hide"
    assert masker.text(text) is text
    assert masker.json(text) is text
    assert not (data_dir / KEY_FILE).exists()


def test_secrets_within_json_are_masked_and_it_stays_json(masker: Masker) -> None:
    text = json.dumps({"command": f'echo "{SECRET}"', "n": [1, None]})
    masked = json.loads(masker.json(text))
    assert masked["n"] == [1, None]
    assert SECRET not in masked["command"]
    assert masked["command"].startswith('echo "[MASKED github-token ')


def test_masking_can_be_turned_off(data_dir: Path) -> None:
    masker = Masker(str(data_dir), enabled=False)
    text = json.dumps({"command": SECRET})
    assert masker.text(SECRET) is SECRET
    assert masker.json(text) is text


def test_the_key_is_private(masker: Masker, data_dir: Path) -> None:
    masker.text(SECRET)
    assert (data_dir / KEY_FILE).stat().st_mode & 0o777 == 0o600
    assert len((data_dir / KEY_FILE).read_bytes()) == 32


MASK = """
# go
from unified_state.secrets.masker import Masker
print(Masker(sys.argv[1]).text(sys.argv[2]))
"""


def test_processes_that_meet_the_first_secret_at_once_agree_on_the_key(tmp_path: Path) -> None:
    assert len(set(run_at_once(MASK, [[str(tmp_path / "data"), SECRET]] * 6))) == 1


def test_where_no_key_can_be_kept_it_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"the masking key .* cannot be kept: .*; make the data folder writable"):
        Masker(str(tmp_path / "file" / "data")).text(SECRET)


def test_a_secret_with_half_an_emoji_is_masked(masker: Masker) -> None:
    assert "hunter" not in masker.text("password = 'hunter2\ud83dhunter2'")


@pytest.mark.usefixtures("alarm")
def test_a_key_file_that_lost_its_content_does_not_hang(masker: Masker, data_dir: Path) -> None:
    """An empty one is what a full disk leaves."""
    data_dir.mkdir(exist_ok=True)
    (data_dir / KEY_FILE).write_bytes(b"")
    assert SECRET not in masker.text(SECRET)
