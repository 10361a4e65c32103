"""The table of all settings: name, default, meaning, unit, and where each may be set.

Each row is a class attribute, so the type checker derives the attributes of `Settings` from the defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from unified_state.errors import SettingError

T = TypeVar("T")

PREFIX = "UNIFIED_STATE_"
OFF, MINILM = "off", "minilm"  # models of a search by meaning
MINILM_NAME = "all-MiniLM-L6-v2-int8"  # in archives
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class Setting:
    """One row of the table. A number has a unit and a range. A secret is never shown and never copied."""

    def __init__(  # a row of the table below, where each is named
        self,
        default: Any,
        about: str,
        *,
        unit: str = "",
        choices: tuple[str, ...] = (),
        least: int = 0,
        most: int = 10_000_000,
        own_file_only: bool = False,
        is_secret: bool = False,
    ) -> None:
        self.default, self.about, self.unit, self.choices = default, about, unit, choices
        self.least, self.most, self.own_file_only, self.is_secret = least, most, own_file_only, is_secret

    def __set_name__(self, _owner: type, name: str) -> None:
        self.name, self.variable = name, PREFIX + name.upper()  # `variable` sets it in the environment

    def loosens(self, value: object) -> bool:
        """Return whether a value removes a protection.

        That is any value but the default of a setting that counts only in the user's own file, and also `enabled =
        false`.
        """
        if not (self.own_file_only or self.name == "enabled"):
            return False
        try:
            return bool(self.parse(value) != self.default)
        except SettingError:
            return False  # it is not used

    def parse(self, value: object) -> Any:
        """Return the value in the setting's type. Text is parsed as in the environment. Raises SettingError with the
        accepted values.
        """
        if isinstance(self.default, bool):
            word = str(value).strip().lower()
            if word in TRUE or word in FALSE:
                return word in TRUE
            raise SettingError(self._takes(value, "true or false"))
        if isinstance(self.default, int):
            return self._parse_number(value)
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            expected = "one of " + ", ".join(self.choices) if self.choices else "text"
            raise SettingError(self._takes(value, expected))
        return value

    def _parse_number(self, value: object) -> int:
        try:
            number = int(str(value).strip())
        except ValueError:
            raise SettingError(self._takes(value, f"a whole number of {self.unit}")) from None
        if isinstance(value, bool) or not self.least <= number <= self.most:
            raise SettingError(self._takes(value, f"{self.least} to {self.most} {self.unit}"))
        return number

    def _takes(self, value: object, expected: str) -> str:
        return f"{self.name} takes {expected}" + ("" if self.is_secret else f", not {value!r}")

    def shown(self, value: object) -> object:
        """Return the value in the form that people may see."""
        return "(set)" if self.is_secret and value else value


if TYPE_CHECKING:

    def setting(default: T, _about: str, **_limits: Any) -> T:
        """Return a row. Type checkers see a value of the default's type."""
        return default
else:
    setting = Setting


class SettingTable:
    """All settings with default, meaning and limits. The type of a setting is the type of its default."""

    enabled = setting(True, "Whether unified-state does anything at all in this project or session.")
    budget_min = setting(300, "Below this size nothing leaves the state file.", unit="tokens")
    budget_target = setting(800, "The size to which the state file is cut once it is over budget_max.", unit="tokens")
    budget_max = setting(1200, "The size above which items leave the state file for the archive.", unit="tokens")
    restore_tokens = setting(
        4500,
        "The size of all that a session start gives back, by an estimate.",
        unit="tokens",
        most=9000,
    )
    restore_on_clear = setting(
        "essentials",
        "What comes back after /clear: constraints and work item, everything, or nothing.",
        choices=("essentials", "full", "nothing"),
    )
    restore_on_startup = setting(
        "brief", "What a new session gets: the state if there is one, or nothing.", choices=("brief", "nothing")
    )
    global_memory = setting(True, "Whether sessions here get what you recorded for all projects.")
    subagent_tokens = setting(600, "The size of what a subagent gets; 0: nothing.", unit="tokens", most=2000)
    steer_summary = setting(True, "Whether PreCompact tells the client what the summary should contain.")
    steer_bytes = setting(
        2000,
        "The size of what PreCompact adds to the compaction instructions; at most 400 for your own /compact, which the "
        "client shows on the screen.",
        unit="bytes",
        most=9000,
    )
    block_compaction = setting(
        False, "Whether a manual /compact is refused while the state is over budget; an automatic one never is."
    )
    context_autopilot = setting(
        True, "Whether the state is saved, and the session warned once, as its context fills up."
    )
    context_warning = setting(
        70,
        "The share of the tokens at which the client compacts from which a context counts as filling up.",
        unit="percent",
        least=1,
        most=100,
    )
    context_optimise = setting(
        85, "The same share, from which a context counts as nearly full.", unit="percent", least=1, most=100
    )
    recent_minutes = setting(30, "How old a saved state may be to count as recent.", unit="minutes")
    session_hours = setting(24, "How long the state file shows a session after its last activity.", unit="hours")
    share_state_file = setting(False, "Whether git may see the state file; else it is excluded locally.")
    search_vectors = setting(
        OFF,
        "Whether a search goes by meaning too: off, or by the model MiniLM. `unified-state embed` makes the vectors; "
        "both need the extra `vectors`.",
        choices=(OFF, MINILM),
    )
    minilm_folder = setting("", "The folder with MiniLM's files, which you get yourself; see search-by-meaning.")
    prompt_milliseconds = setting(
        400,
        "How long a prompt waits at most for an old transcript to be archived; the rest follows later.",
        unit="milliseconds",
    )
    mask_secrets = setting(True, "Whether secrets are masked before anything is written.", own_file_only=True)
    tier = setting(
        "sqlite",
        "Where the history is kept: an SQLite archive, or a journal of JSON lines; see tiers.",
        choices=("sqlite", "json"),
        own_file_only=True,
    )
    postgres_enabled = setting(
        False, "Whether a PostgreSQL server gets this archive, by `unified-state server sync`.", own_file_only=True
    )
    postgres_dsn = setting(
        "",
        "The server: `postgresql://HOST/DATABASE`.",
        own_file_only=True,
        is_secret=True,
    )
    postgres_organisation = setting(
        "default", "The organisation that owns the history on the server.", own_file_only=True
    )
    sync_in_background = setting(
        False, "Whether the end of a turn starts a sync with the server, where one is configured.", own_file_only=True
    )
    data_dir = setting("", "The folder of the archives; empty: the user's data folder.", own_file_only=True)


SETTINGS = tuple(row for row in vars(SettingTable).values() if isinstance(row, Setting))
# Variables of the seed systems: our setting for each, and the divisor that converts its unit to ours.
ALIASES: dict[str, tuple[str, int]] = {
    "CLAUDE_FLOW_COMPACT_RESTORE_BUDGET": ("restore_tokens", 4),  # characters a token
    "CLAUDE_FLOW_COMPACT_INSTRUCTION_BUDGET": ("steer_bytes", 1),
    "CLAUDE_FLOW_CONTEXT_AUTOPILOT": ("context_autopilot", 1),
}
