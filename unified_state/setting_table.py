"""The table of all settings: name, default, what it is about, unit, and where it may be set."""

from __future__ import annotations

from unified_state.errors import SettingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PREFIX = "UNIFIED_STATE_"
OFF, STATIC, MINILM = "off", "static", "minilm"  # what a search by meaning goes by
MODEL_NAMES = {MINILM: "all-MiniLM-L6-v2-int8", STATIC: "wordllama-l2-supercat-256"}  # as an archive names them
TRUE, FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class Setting:
    """One row of the table: the default gives the type; numbers have a unit and a range. A secret one is never shown,
    and never copied.
    """

    def __init__(  # noqa: PLR0913  # a row of the table below, where each is named
        self,
        name: str,
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
        self.name, self.default, self.about, self.unit = name, default, about, unit
        self.choices, self.least, self.most, self.own_file_only = choices, least, most, own_file_only
        self.is_secret = is_secret

    @property
    def variable(self) -> str:
        """The environment variable of the setting."""
        return PREFIX + self.name.upper()

    def loosens(self, value: object) -> bool:
        """Whether a value takes a protection away: of what counts only in the user's own file any but the default, and
        switching all of it off.
        """
        if not (self.own_file_only or self.name == "enabled"):
            return False
        try:
            return bool(self.parse(value) != self.default)
        except SettingError:
            return False  # it is not used

    def parse(self, value: object) -> Any:
        """The value in the setting's type; text is read as the environment gives it. Raises SettingError with what it
        takes.
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
        """The value as people may see it."""
        return "(set)" if self.is_secret and value else value


SETTINGS = (
    Setting("enabled", default=True, about="Whether unified-state does anything at all in this project or session."),
    Setting("budget_min", 300, "Below this size nothing leaves the state file.", unit="tokens"),
    Setting("budget_target", 800, "The size to which the state file is cut once it is over budget_max.", unit="tokens"),
    Setting("budget_max", 1200, "The size above which items leave the state file for the archive.", unit="tokens"),
    Setting("restore_tokens", 4500, "The size of all that a session start gives back.", unit="tokens", most=9000),
    Setting(
        "restore_on_clear",
        "essentials",
        "What comes back after /clear: constraints and work item, everything, or nothing.",
        choices=("essentials", "full", "nothing"),
    ),
    Setting(
        "restore_on_startup",
        "brief",
        "What a new session is given: the state where there is one, or nothing.",
        choices=("brief", "nothing"),
    ),
    Setting("subagent_tokens", 600, "The size of what a subagent is given; 0: nothing.", unit="tokens", most=2000),
    Setting(
        "steer_summary", default=True, about="Whether PreCompact tells the client what the summary should contain."
    ),
    Setting(
        "steer_bytes", 2000, "The size of what PreCompact adds to the compaction instructions.", unit="bytes", most=9000
    ),
    Setting(
        "block_compaction",
        default=False,
        about="Whether a manual /compact is refused while the state is over budget; an automatic one never is.",
    ),
    Setting(
        "context_autopilot",
        default=True,
        about="Whether the state is saved, and the session told once, as its context fills up.",
    ),
    Setting(
        "context_warning",
        70,
        "From where on a context counts as filling up; of the tokens at which the client compacts.",
        unit="percent",
        least=1,
        most=100,
    ),
    Setting(
        "context_optimise",
        85,
        "From where on a context counts as nearly full.",
        unit="percent",
        least=1,
        most=100,
    ),
    Setting(
        "lean_adapts",
        default=True,
        about="Whether long tool outputs are shortened more as the context fills up, where `install --lean` is in use.",
    ),
    Setting("recent_minutes", 30, "How old a saved state may be to count as recent.", unit="minutes"),
    Setting("session_hours", 24, "How long the state file shows a session that has gone quiet.", unit="hours"),
    Setting(
        "share_state_file", default=False, about="Whether git may see the state file; else it is excluded locally."
    ),
    Setting(
        "search_vectors",
        OFF,
        "Whether a search goes by meaning too: off, a quick static model, or MiniLM. `unified-state embed` makes the "
        "vectors; both need the extra `vectors`.",
        choices=(OFF, STATIC, MINILM),
    ),
    Setting(
        "prompt_milliseconds",
        400,
        "How long a prompt waits at most for an old transcript to be archived; the rest follows later.",
        unit="milliseconds",
    ),
    Setting(
        "retention_megabytes",
        0,
        "The size down to which `prune --policy` lets go of what is least used; 0: there is no policy.",
        unit="megabytes",
        own_file_only=True,
    ),
    Setting(
        "retention_spares_days",
        90,
        "How young a step has to be for `prune --policy` to leave it alone.",
        unit="days",
        own_file_only=True,
    ),
    Setting(
        "mask_secrets",
        default=True,
        about="Whether secrets are masked before anything is written.",
        own_file_only=True,
    ),
    Setting(
        "tier",
        "sqlite",
        "What holds the history: an SQLite archive, or a journal of JSON lines; see tiers.",
        choices=("sqlite", "json"),
        own_file_only=True,
    ),
    Setting(
        "postgres_enabled",
        default=False,
        about="Whether this archive is replicated to a PostgreSQL server, by `unified-state sync`.",
        own_file_only=True,
    ),
    Setting(
        "postgres_dsn",
        "",
        "Which server: `postgresql://HOST/DATABASE`, or `embedded:` for one of your own.",
        own_file_only=True,
        is_secret=True,
    ),
    Setting("postgres_organisation", "default", "The organisation whose history it is there.", own_file_only=True),
    Setting("postgres_member", "", "Your name there; empty: that of your account here.", own_file_only=True),
    Setting(
        "sync_in_background",
        default=False,
        about="Whether the end of a turn starts a sync with the server, where one is configured.",
        own_file_only=True,
    ),
    Setting("data_dir", "", "Where the archives lie; empty: the user's data folder.", own_file_only=True),
)

# Names that the seed systems used: what they mean here, and how their unit becomes ours.
ALIASES: dict[str, tuple[str, int]] = {
    "CLAUDE_FLOW_COMPACT_RESTORE_BUDGET": ("restore_tokens", 4),  # characters a token
    "CLAUDE_FLOW_COMPACT_INSTRUCTION_BUDGET": ("steer_bytes", 1),
    "CLAUDE_FLOW_CONTEXT_AUTOPILOT": ("context_autopilot", 1),
}
# Names that have no counterpart. Nothing is ever deleted by age, and nothing is blocked unless asked for here.
IGNORED_ALIASES: dict[str, str] = {
    "CLAUDE_FLOW_RETENTION_DAYS": "nothing is deleted by age unless you run `unified-state prune`",
    "CLAUDE_FLOW_AUTO_OPTIMIZE": "nothing is deleted by a ranking unless you run `unified-state prune --policy`",
    "CLAUDE_FLOW_AUTOPILOT_WARN": "set context_warning, which is a percentage",
    "CLAUDE_FLOW_AUTOPILOT_PRUNE": "set context_optimise, which is a percentage; nothing is pruned",
    "CLAUDE_FLOW_CONTEXT_WINDOW": "the client and the model tell the window",
    "CLAUDE_FLOW_BLOCK_COMPACTION": "set block_compaction in unified-state's own settings",
}
