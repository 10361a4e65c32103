"""An extra of unified-state: the longest prompts of a project, as a command, a tool of the agent, and a check."""

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from unified_state.archive.export_steps import export_steps
from unified_state.interfaces.cli.command_context import Command, Context, count, option
from unified_state.model.check import Check, bad, good
from unified_state.project.workspace.workspace import Workspace


def longest(workspace: Workspace, limit: int) -> list[dict[str, Any]]:
    prompts = workspace.use(lambda archive: [step for step in export_steps(archive) if step["kind"] == "prompt"])
    sizes = [{"ref": step["ref"], "characters": len(step["text"])} for step in prompts]
    return sorted(sizes, key=lambda size: -int(size["characters"]))[:limit]


def print_longest(context: Context, arguments: Namespace) -> None:
    found = longest(context.reading(), arguments.limit)
    context.show(found, "\n".join(f"{one['ref']}  {one['characters']}" for one in found))


class Tools:
    def __init__(self, project: Any) -> None:
        self._project = project

    def longest_prompts(self, limit: int = 3) -> dict[str, Any]:
        """Return the longest prompts of this project."""
        return {"prompts": longest(self._project.reading(), limit)}


def check(subject: Any) -> Iterator[Check]:
    limit = subject.settings.tables.get("longest-prompts", {}).get("limit", 3)  # of the user's own config.toml
    yield good("longest", f"{limit} prompts") if limit > 0 else bad("longest", f"limit is {limit}", "set at least 1")


COMMAND = Command(print_longest, option("--limit N", "default: 3", type=count, default=3))
COMMANDS = {"longest": ("Everyday", {"longest": COMMAND}, "print the longest prompts of this project")}
TOOLS, CHECKS = Tools, check
