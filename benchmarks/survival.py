"""Survival: what of a state stands in the next request after each of five compactions of a real session.

    python -m benchmarks.survival [--sessions N] [--json]

Runs the client itself against a scripted API, whose summaries keep, drop and distort items on purpose
(`benchmarks/survival_story.py`). Beside us: the summary alone, and the summary with the banner of the seed, the program
that this one descends from. An item survives where its own words stand in the request, or where we list its ref as kept
by a summary that does say it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.arguments import described
from benchmarks.real_client import needed_client, temporary_scenario
from benchmarks.survival_story import COMPACTIONS, CURRENT, DISTORTED, ITEMS, KEPT, SUPERSEDED, Plan, plan
from tests.real_client.conversation import Conversation
from tests.real_client.installed import restores, rows
from tests.real_client.messages import Request
from tests.real_client.scenario import Scenario
from tests.sandboxed.product import Product
from unified_state.lib.tokens import count_tokens

OURS, SUMMARY, SEED = "unified-state", "summary only", "seed"


class Outcome(NamedTuple):
    """What one method did at one compaction."""

    method: str
    compaction: str
    items: int
    surviving: int
    superseded_shown: int
    planted: int = 0
    caught: int = 0
    invented: int = 0
    proposed: int = 0
    proposals_right: int = 0
    tokens: int = 0
    milliseconds: int = 0


def main(arguments: list[str] | None = None) -> int:
    """Play the sessions and print the table."""
    parser = described(__doc__)
    parser.add_argument("--sessions", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    client = needed_client()
    outcomes = [outcome for seed in range(options.sessions) for outcome in play(client, seed)]
    if options.json:
        print(json.dumps([outcome._asdict() for outcome in outcomes], indent=1))
    else:
        print(table(outcomes))
    return 0


def play(client: Path, seed: int) -> Iterator[Outcome]:
    """One session with its compactions."""
    with temporary_scenario(client) as scenario:
        product = Product(scenario)
        product.run("install")
        refs = _record(product)
        with Conversation(scenario) as conversation:
            conversation.ask("begin")
            for number in range(1, COMPACTIONS + 1):
                planned = plan(seed, number, refs)
                before = _items(product)
                scenario.api.script("compact", planned.summary)
                conversation.ask("/compact")
                conversation.ask(f"go on after {number}")
                request = scenario.api.of("main")[-1]
                yield from _outcomes(scenario, product, request, planned, number, before)


def _record(product: Product) -> dict[str, str]:
    """Record the state as a user does in a terminal; the ref of each item by its text."""
    options = {
        "decision": ("--rationale", "agreed"),
        "constraint": ("--source", "the user"),
        "question": ("--context", "the next release"),
    }
    for told in ITEMS:
        product.run(told.kind, "add", told.text, *options[told.kind])
    product.run("decision", "add", SUPERSEDED, "--rationale", "known")
    older = next(ref for ref, text in _items(product).items() if text == SUPERSEDED)
    product.run("decision", "supersede", older, CURRENT, "--rationale", "faster")
    return {text: ref for ref, text in _items(product).items()}


def _items(product: Product, status: str | None = None) -> dict[str, str]:
    """The items that are active, or in another status, with what they say."""
    found: dict[str, str] = {}
    for kind in ("decision", "constraint", "question"):
        for item in json.loads(product.run(kind, "list", "--json")):
            if item.get("status") == status:
                found[item["id"]] = item[kind]
    return found


def _outcomes(
    scenario: Scenario, product: Product, request: Request, planned: Plan, number: int, before: dict[str, str]
) -> Iterator[Outcome]:
    ref = f"K{number}"
    summary = next(text for _, text in request.texts() if text.startswith("This session is being continued"))
    ours = "\n".join(restores(request))
    judged = json.loads(product.run("compactions", ref, "--json"))
    told = {item["ref"]: item["verdict"] for item in judged["items"]}
    planted = {item for item, fate in planned.fates.items() if fate == DISTORTED}
    distorted = {item for item, verdict in told.items() if verdict == DISTORTED}
    said = {item for item, text in before.items() if planned.fates.get(item) == KEPT or text in summary}
    listed = {item for item in before if told.get(item) == KEPT and item in ours.split()} & said
    new = _new(scenario, product, before, number)
    yield Outcome(
        OURS, ref, len(before), len({item for item, text in before.items() if text in ours} | listed),
        int(SUPERSEDED in ours), len(planted), len(planted & distorted), len(distorted - planted),
        len(new), len(new & set(planned.new)), judged["restored_tokens"], _milliseconds(scenario),
    )  # fmt: skip
    yield Outcome(SUMMARY, ref, len(before), len(said), int(planned.tells_superseded), len(planted))
    banner = seed_banner(_items(product) | {"old": SUPERSEDED}, before)
    shown = {item for item, text in before.items() if text in banner}
    is_shown = planned.tells_superseded or SUPERSEDED in banner
    (tokens,) = count_tokens([banner])
    yield Outcome(SEED, ref, len(before), len(said | shown), int(is_shown), len(planted), tokens=tokens)


def _new(scenario: Scenario, product: Product, before: dict[str, str], number: int) -> set[tuple[str, str]]:
    """What was recorded from the summary: items, proposed or not, and next steps."""
    letters = {"D": "decision", "C": "constraint", "Q": "question"}
    now = _items(product) | _items(product, "proposed")
    new = {(letters[ref[0]], text) for ref, text in now.items() if ref not in before and _is_of(product, ref, number)}
    state = json.loads(product.run("load", "--json"))
    pending = state.get("state", state)["summaries"].get("pendingActions", [])
    earlier = {text for (text,) in rows(scenario, "SELECT text FROM note WHERE compaction != ?", number)}
    return new | {("next", text) for text in pending if text not in earlier}


def _is_of(product: Product, ref: str, number: int) -> bool:
    found: dict[str, Any] = json.loads(product.run("show", ref, "--json"))
    return bool(found["compaction"] == number)


def _milliseconds(scenario: Scenario) -> int:
    """What the hook that gives the state back took inside."""
    (path,) = scenario.home.glob(".local/share/unified-state/repositories/*/runs/SessionStart.brief")
    return int(json.loads(path.read_text(encoding="utf-8"))[1])


def seed_banner(items: dict[str, str], active: dict[str, str]) -> str:
    """What the seed's restore says of the items: the last three decisions in 50 characters, blocking constraints and
    urgent questions. It knows nothing of superseding. (As measured from its code.)
    """
    decisions = [text for ref, text in items.items() if ref[0] == "D" or ref == "old"][-3:]
    lines = [f"  - {text[:50]}..." for text in decisions]
    return "\n".join(
        ["[CONTEXT RESTORED]", f"[DECISIONS] {len(active)} recorded", *lines, "[RESTORED] ready to continue"]
    )


def table(outcomes: list[Outcome]) -> str:
    """The sums over all compactions, a line for each method."""
    head = ("", "items", "surviving", "superseded shown", "distorted", "caught", "invented", "proposals", "right")
    lines = [" ".join(f"{cell:>16}" for cell in (*head, "tokens", "ms"))]
    for method in (OURS, SEED, SUMMARY):
        found = [outcome for outcome in outcomes if outcome.method == method]
        total = [sum(column) for column in list(zip(*found, strict=True))[2:]]
        items, surviving = total[:2]
        cells = [method, items, f"{surviving / items:.1%}", *total[2:8], total[8] // len(found), total[9] // len(found)]
        lines.append(" ".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
