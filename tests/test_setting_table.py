from __future__ import annotations

import pytest

from unified_state.errors import SettingError
from unified_state.setting_table import ALIASES, SETTINGS, Setting


class Sample:
    switch = Setting(default=True, about="")
    size = Setting(800, "", unit="tokens", least=1, most=1000)
    choice = Setting("some", "", choices=("some", "all"))
    folder = Setting("", "")


SWITCH, SIZE, CHOICE, FOLDER = Sample.switch, Sample.size, Sample.choice, Sample.folder


@pytest.mark.parametrize("value", [True, "true", " YES ", "1", "on", 1])
def test_a_switch_is_turned_on(value: object) -> None:
    assert SWITCH.parse(value) is True


@pytest.mark.parametrize("value", [False, "false", "No", "0", "off"])
def test_a_switch_is_turned_off(value: object) -> None:
    assert SWITCH.parse(value) is False


@pytest.mark.parametrize("value", [1, "1", " 800 ", 1000])
def test_a_number_is_read_from_toml_and_from_text(value: object) -> None:
    assert SIZE.parse(value) == int(str(value))


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        (SWITCH, "maybe", "switch takes true or false, not 'maybe'"),
        (SIZE, "many", "size takes a whole number of tokens, not 'many'"),
        (SIZE, 1.5, "size takes a whole number of tokens, not 1.5"),
        (SIZE, True, "size takes a whole number of tokens, not True"),
        (SIZE, 0, "size takes 1 to 1000 tokens, not 0"),
        (SIZE, 1001, "size takes 1 to 1000 tokens, not 1001"),
        (CHOICE, "none", "choice takes one of some, all, not 'none'"),
        (CHOICE, 1, "choice takes one of some, all, not 1"),
        (FOLDER, ["/a"], r"folder takes text, not \['/a'\]"),
    ],
)
def test_a_value_that_cannot_be_used_names_the_setting_and_what_it_takes(
    setting: Setting, value: object, message: str
) -> None:
    with pytest.raises(SettingError, match=message):
        setting.parse(value)


def test_a_setting_has_an_environment_variable() -> None:
    assert SIZE.variable == "UNIFIED_STATE_SIZE"


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_default_is_a_value_that_the_setting_takes(setting: Setting) -> None:
    assert setting.parse(setting.default) == setting.default


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_number_says_its_unit(setting: Setting) -> None:
    is_number = isinstance(setting.default, int) and not isinstance(setting.default, bool)
    assert bool(setting.unit) == is_number


def test_every_alias_means_a_setting_of_ours() -> None:
    assert {name for name, _ in ALIASES.values()} <= {setting.name for setting in SETTINGS}
