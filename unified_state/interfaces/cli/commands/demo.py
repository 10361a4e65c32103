"""`demo`: the main job end to end on a bundled session, offline."""

from __future__ import annotations

from unified_state.interfaces.cli.command_context import Context
from unified_state.lib.record import disk_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from unified_state.interfaces.cli.run_demo import Demonstration, Fact


def configure(_name: str, parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_demo)


def _demo(arguments: Namespace) -> int:
    from unified_state.interfaces.cli.run_demo import demonstrate

    done = demonstrate()
    Context(as_json=arguments.json).show(disk_value(done), _story(done))
    return 0 if all(fact.restored or fact.in_summary for fact in done.facts) else 1


def _story(done: Demonstration) -> str:
    lost = [fact for fact in done.facts if not fact.in_summary]
    back = [fact for fact in lost if fact.restored]
    width = max(len(fact.name) for fact in done.facts)
    table = [f"  {fact.name:{width}}  {_fate(fact)}  {fact.text}" for fact in done.facts]
    kept = f"{len(done.facts) - len(lost)} of {len(done.facts)} facts"
    return "\n".join(
        [
            f"1. A session of {done.turns} turns: the hooks archived all {done.steps} steps as they happened.",
            "2. The agent recorded decisions, a constraint, a question, an error; the client compacts:",
            *(f"     {line}" for line in done.steering.splitlines()[:3]),
            "     …",
            f"3. Its summary keeps {kept}. What the next request gets beside it:",
            "",
            *(f"     {line}" for line in done.restored.splitlines()),
            "",
            f"4. {len(lost)} facts were lost by the compaction, {len(back)} of them came back:",
            "",
            f"  {'fact':{width}}  summary  restored",
            *table,
        ]
    )


def _fate(fact: Fact) -> str:
    if fact.in_summary:
        return "kept     there   " if fact.restored else "kept     -       "
    return "LOST     back    " if fact.restored else "LOST     -       "
