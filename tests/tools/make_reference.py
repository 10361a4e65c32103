"""Generate the reference blocks of the documentation from the code, and update the examples.

A generated block is between `<!-- generated: NAME -->` and `<!-- end -->`; people write the rest of a page.
A test fails for a page that is not up to date.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import TypeAdapter

from tests.docs import examples
from tests.docs.pages import PAGES, ROOT, name_of
from tests.tools import mcp_reference
from tests.tools.command_reference import commands, described, table
from tests.tools.host_reference import clients, hosts
from unified_state import AgentMemory, MessageArchive, UnifiedStateManager, errors, prune_messages
from unified_state.extension import parts
from unified_state.hosts.install.hook_table import hook_groups
from unified_state.hosts.install.install_claude_code import READ_ONLY_RULES
from unified_state.lib.package import install_line, marketplace_line
from unified_state.lib.record import Record
from unified_state.model.history_records import HistoryRecord
from unified_state.model.item import Attempt, Constraint, Decision, Evidence, OpenQuestion, Scope
from unified_state.model.session_state import (
    GitState,
    SessionRecord,
    State,
    Summaries,
    TokenMetrics,
    Workflow,
    WorkItem,
)
from unified_state.secrets.rules.secret_tokens import read_formats
from unified_state.setting_table import ALIASES, SETTINGS, Setting
from unified_state.settings import default_data_dir

_BLOCK = re.compile(r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(^<!-- end -->$)", re.MULTILINE | re.DOTALL)
_ANY_NUMBER = 10_000_000  # the bound of settings that have none of their own
_LINE = 100  # characters of a code block that need not be scrolled
_STATE_RECORDS: tuple[type[Record], ...] = (
    *(State, GitState, WorkItem, Workflow, Decision, Constraint, Scope, OpenQuestion, Evidence, Attempt),
    *(Summaries, TokenMetrics, SessionRecord),
)
_ITEM_FIELDS = {"id", "timestamp", "origin", "status"}  # of every item; the page describes them once


def settings() -> str:
    """The list of settings: first those that count anywhere, then those that count only in the user's own file."""
    anywhere = described([_setting(setting) for setting in SETTINGS if not setting.own_file_only])
    own = described([_setting(setting) for setting in SETTINGS if setting.own_file_only])
    return f"{anywhere}\n\nThese are *own file only*:\n\n{own}"


def _setting(setting: Setting) -> tuple[str, str]:
    default = f"`{_toml(setting.default)}`" if setting.default != "" else ""
    limits = "; ".join(filter(None, (default, _values(setting))))
    return f"`{setting.name}` ({limits})", setting.about


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def _values(setting: Setting) -> str:
    if isinstance(setting.default, bool):
        return ""
    if isinstance(setting.default, int):
        if (setting.least, setting.most) == (0, _ANY_NUMBER):
            return setting.unit
        return f"{setting.least:,} to {setting.most:,} {setting.unit}"
    return ", ".join(f'"{choice}"' for choice in setting.choices) or "text"


def aliases() -> str:
    """The variables of other programs that are understood."""
    rows = [
        (
            f"`{name}`",
            f"`{setting}`",
            f"divided by {divisor}, since it counts characters" if divisor > 1 else "unchanged",
        )
        for name, (setting, divisor) in ALIASES.items()
    ]
    return table(("variable", "setting", "value"), rows)


def state_file() -> str:
    """The fields of the state file, by object."""
    schema = TypeAdapter(State).json_schema()
    definitions = {**schema["$defs"], "State": {name: value for name, value in schema.items() if name != "$defs"}}
    return "\n\n".join(_record(record, definitions[record.__name__]) for record in _STATE_RECORDS)


def _record(record: type[Record], schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    common = _ITEM_FIELDS if set(schema["properties"]) > _ITEM_FIELDS else set()
    rows = [
        (f"`{name}`", f"{_json_type(shape)}{', required' if name in required else ''}")
        for name, shape in schema["properties"].items()
        if name not in common
    ]
    return "\n\n".join([f"### {record.__name__}", _on_disk(record), _fields(rows)])


def _fields(rows: list[tuple[str, str]]) -> str:
    return f"Fields: {'; '.join(f'{name} {kind}' for name, kind in rows)}."


def _on_disk(record: type[Record]) -> str:
    """The docstring of a record, with the field names of the file."""
    text = _text(record).replace("is None", "is null")
    for name, disk_name in record.disk_names.items():
        text = text.replace(f"`{name}`", f"`{disk_name}`")
    return text


def _json_type(shape: dict[str, Any]) -> str:
    if "$ref" in shape:
        name = shape["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in shape:
        choices = [_json_type(choice) for choice in shape["anyOf"]]
        return " or ".join(choice for choice in choices if choice != "null") + ("?" if "null" in choices else "")
    if "enum" in shape or "const" in shape:
        return ", ".join(f'`"{value}"`' for value in shape.get("enum", [shape.get("const")]))
    if shape["type"] == "array":
        return f"list of {_json_type(shape['items'])}"
    inner = shape.get("additionalProperties")
    return f"object of {_json_type(inner)} by session id" if isinstance(inner, dict) else str(shape["type"])


def timeouts() -> str:
    """The time limit of each hook."""
    groups = hook_groups(default_data_dir(), "")
    rows = [(f"`{event}`", f"{group['hooks'][0]['timeout']} s") for event, (group,) in groups.items()]
    return ", ".join(f"{event} {limit}" for event, limit in rows) + "."


def reading_rules() -> str:
    """The permissions that `install --allow-reading` adds."""
    return "\n".join(["```text", *READ_ONLY_RULES, "```"])


def install_block() -> str:
    """The command that installs the program without a clone."""
    return f"```sh\n{install_line()}\n```"


def marketplace_block() -> str:
    """The commands that install the plugin."""
    return f"```sh\n{marketplace_line()}\nclaude plugin install unified-state@unified-state\n```"


def secret_kinds() -> str:
    """The kinds of tokens that have a known form."""
    return ", ".join(f"`{kind}`" for kind in dict.fromkeys(kind for kind, *_ in read_formats())) + "."


def python_api() -> str:
    """Signatures and docstrings of the public names."""
    parts = [part for public in (UnifiedStateManager, AgentMemory, MessageArchive) for part in _class(public)]
    name = prune_messages.__name__
    return "\n\n".join([*parts, f"## {name}", _signature(name, prune_messages), _text(prune_messages)])


def _class(public: type) -> Iterator[str]:
    yield f"## {public.__name__}"
    yield _text(public)
    members: dict[str, Any] = {}
    for owner in public.__mro__:
        members |= {name: member for name, member in vars(owner).items() if name not in members}
    for name, function in members.items():
        is_made = name == "__init__" and not getattr(public, "_is_protocol", False)
        if inspect.isfunction(function) and (is_made or not name.startswith("_")):
            shown = public.__name__ if name == "__init__" else name
            yield _signature(shown, function)
            yield _text(function)


def agent_example() -> str:
    """The example agent, which a test runs."""
    return _program("agent_with_memory.py")


def python_example() -> str:
    """The example of the Python API, which a test runs."""
    return _program("notes_with_memory.py")


def extras() -> str:
    """The pages of the extras that come with the package."""
    pages = {address: title for pages in parts("PAGES", of_all=False) for address, title in pages.items()}
    return "\n".join(f"* [{title}](extras/{address})" for address, title in pages.items())


def extra_example() -> str:
    """The example of an extra, which a test runs."""
    return _program("longest_prompts.py")


def _program(name: str) -> str:
    return f"```py\n{(ROOT / 'docs' / 'examples' / name).read_text(encoding='utf-8').strip()}\n```"


def _signature(name: str, function: Callable[..., Any]) -> str:
    """A signature; a long one has one argument a line. Leaves out `workspace`, which only our own callers pass."""
    signature = inspect.signature(function)
    arguments: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.name in {"self", "workspace"}:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in arguments:
            arguments.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        kind = parameter.annotation if parameter.default is not None else parameter.annotation.removesuffix(" | None")
        arguments.append(f"{parameter.name}: {kind}{default}")
    gives = f" -> {signature.return_annotation}" if signature.return_annotation != "None" else ""
    line = f"{name}({', '.join(arguments)}){gives}"
    if len(line) <= _LINE:
        return f"`{line}`"
    line = f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){gives}"
    return f"```text\n{line}\n```"


def history_records() -> str:
    """The records that stores exchange, with their fields."""
    return "\n\n".join(
        f"### {record.__name__}\n\n{_text(record)}\n\nFields: {', '.join(f'`{name}`' for name in record.names)}."
        for record in typing.get_args(HistoryRecord)
    )


def exceptions() -> str:
    """The errors, with the exit code of a command where it is not 1."""
    kinds: list[type[errors.UnifiedStateError]] = [errors.UnifiedStateError, *errors.UnifiedStateError.__subclasses__()]
    codes = {kind: f" Exit code {kind.exit_code}." if kind.exit_code != 1 else "" for kind in kinds}
    rows = [(f"`{kind.__name__}`", _text(kind).replace("\n", " ") + codes[kind]) for kind in kinds]
    return described(rows)


def demo() -> str:
    """The last part of the demo's output: the facts that were lost, and those that came back."""
    command = [sys.executable, "-m", "unified_state.interfaces.cli.main", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    lines = [line.rstrip() for line in done.stdout.partition("\n4. ")[2].splitlines()]
    return "\n".join(["```text", *lines, "```"])


GENERATED: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings,
    "aliases": aliases,
    "state-file": state_file,
    "timeouts": timeouts,
    "reading-rules": reading_rules,
    "install-line": install_block,
    "marketplace-line": marketplace_block,
    "secret-kinds": secret_kinds,
    "python-api": python_api,
    "agent-example": agent_example,
    "python-example": python_example,
    "extra-example": extra_example,
    "extras": extras,
    "history-records": history_records,
    "exceptions": exceptions,
    "mcp-tools": mcp_reference.tools,
    "mcp-instructions": mcp_reference.instructions,
    "demo": demo,
    "hosts": hosts,
    "clients": clients,
}


def with_generated(page: str) -> str:
    """The page with updated generated blocks."""
    return _BLOCK.sub(lambda match: f"{match[1]}\n{GENERATED[match['name']]()}\n\n{match[3]}", page)


def generated_in(page: str) -> list[str]:
    """The names of the generated blocks on a page."""
    return [match["name"] for match in _BLOCK.finditer(page)]


def _text(documented: object) -> str:
    """A docstring without its doctests."""
    text = inspect.getdoc(documented) or ""
    return text.split("\n\n>>> ")[0].strip()


def main(arguments: list[str]) -> None:
    """Update the generated blocks of all pages, then the examples.

    With `--check`, exit with the names of pages whose generated blocks are stale.
    """
    before = {page: page.read_text(encoding="utf-8") for page in PAGES}
    changed = {page: after for page, text in before.items() if (after := with_generated(text)) != text}
    if arguments == ["--check"]:
        sys.exit(" ".join(map(name_of, changed)) or None)
    for page, after in changed.items():
        page.write_text(after, encoding="utf-8")
        sys.stdout.write(f"{name_of(page)}: updated generated blocks\n")
    examples.main([str(page) for page in PAGES])


if __name__ == "__main__":
    main(sys.argv[1:])
