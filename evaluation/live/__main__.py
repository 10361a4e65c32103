"""The experiment with a model: the client itself, with a key of the user's own, in a sandbox.

    ANTHROPIC_API_KEY=... python -m evaluation.live TASKS MODEL --prices FILE --budget DOLLARS --results FOLDER

TASKS is a folder of tasks. The command writes a pre-registration before the first run, stops before a request that
could exceed the budget, and goes on where it stopped. docs/explanation/does-it-help.md explains it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.arguments import described
from benchmarks.real_client import needed_client
from evaluation.arms import PLACEBO, TAIL, known_arms
from evaluation.live.budget import Budget, UnknownPriceError, read_prices
from evaluation.live.client_world import ClientWorld
from evaluation.live.relay import Relay, Upstream
from evaluation.live.results import Results, write_result
from evaluation.live.run import COMPACTED, ENDINGS, MOST_CORRECTIONS, Plan, RefusedError, perform
from evaluation.live.summary import MEASURES, summary
from evaluation.paired import ALPHA, POWER, effect_lines
from evaluation.tasks import Task, chosen, find_tasks
from unified_state import __version__

API = "https://api.anthropic.com"
Json = dict[str, Any]


class CannotStartError(Exception):
    """Something that the user has to change first."""


def main(arguments: list[str] | None = None) -> int:
    """Perform the runs that are missing, and print the table. Exit 1 if it cannot start, 3 if it stopped early."""
    options = _options(arguments)
    try:
        tasks = chosen(find_tasks(options.tasks), options.count, options.names)
        prices = read_prices(options.prices)
        Budget(Path(os.devnull), options.budget, prices).check(options.model)
        client, upstream = needed_client(), _upstream(options.model)
        plans, results = _plans(options, tasks), Results(options.results)
        is_new = results.register(_registration(options, tasks))
        budget = Budget(results.spending, options.budget, prices)
    except (OSError, ValueError, UnknownPriceError, CannotStartError) as error:
        print(f"evaluation: {error}", file=sys.stderr)
        return 1
    print("\n".join(effect_lines(len(tasks) * len(options.endings))))
    print(f"{'wrote' if is_new else 'goes on with'} {results.registration}", flush=True)
    stopped = _perform_all(plans, client, results, budget, upstream, options)
    if found := results.all():
        print(summary(found))
    if stopped:
        print(f"evaluation: {stopped}; the same command goes on from here", file=sys.stderr)
    return 3 if stopped else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = described(__doc__)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("model")
    parser.add_argument("--arms", default="", help="names, separated by blanks; all of them without")
    parser.add_argument("--prices", type=Path, required=True, help="dollars a million tokens, by model")
    parser.add_argument("--budget", type=float, required=True, help="dollars, for the whole folder of results")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--count", type=int, default=40, help="tasks at most")
    parser.add_argument("--names", nargs="+", help="only these tasks")
    parser.add_argument("--compactions", type=int, default=3)
    parser.add_argument("--endings", nargs="+", choices=ENDINGS, default=[COMPACTED])
    parser.add_argument("--window", type=int, help="tokens of the context; without it /compact is sent")
    parser.add_argument("--output-tokens", type=int, default=16_000, help="of an answer, at most; part of the reserve")
    parser.add_argument("--host", type=Path, help="the clone of the library that the tasks' build.py copies")
    parser.add_argument("--transcripts", type=Path, help="for the arms tail and placebo: as in the dry run")
    return parser.parse_args(arguments)


def _upstream(model: str) -> Upstream:
    """The API with the user's key; it is asked for a count of tokens, which costs nothing, to try both."""
    key = os.environ.get("ANTHROPIC_API_KEY", "").strip()
    if not key:
        message = "there is no key: set ANTHROPIC_API_KEY"
        raise CannotStartError(message)
    url = os.environ.get("ANTHROPIC_BASE_URL", API)
    upstream = Upstream(url, key)
    status, answer = upstream.count({"model": model, "messages": [{"role": "user", "content": "x"}]})
    if status != 200:
        told = answer.get("error") or {}
        message = f"{url} refuses the model {model} with {status} {told.get('type', '')}: {told.get('message', '')}"
        raise CannotStartError(message)
    return upstream


def _plans(options: argparse.Namespace, tasks: list[Task]) -> list[Plan]:
    """All runs, those of a task together, so that pairs are complete early."""
    arms = known_arms(options.arms)
    sizes: dict[str, tuple[int, str]] = {}
    if {PLACEBO, TAIL} & set(arms):
        if options.transcripts is None:
            message = "the arms tail and placebo need --transcripts, a folder of transcripts with compactions"
            raise CannotStartError(message)
        from evaluation.dry_run.contexts import sizes_of

        sizes = sizes_of(tasks, options.transcripts, options.compactions)
    return [
        Plan(task, arm, ending, options.compactions, *sizes.get(task.name, (0, "")))
        for task, ending, arm in itertools.product(tasks, options.endings, arms)
    ]


def _registration(options: argparse.Namespace, tasks: list[Task]) -> Json:
    return {
        "registered_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "question": "Does an agent solve more tasks at once, after compactions, with unified-state than with bare?",
        "primary": f"solved_at_once, unified-state against bare, paired by task: McNemar exact, alpha {ALPHA}",
        "secondary": ["solved", *MEASURES],
        "least_effect": effect_lines(len(tasks) * len(options.endings)),
        "power": POWER,
        "model": options.model,
        "arms": known_arms(options.arms),
        "tasks": {task.name: task.digest for task in tasks},
        "compactions": options.compactions,
        "endings": options.endings,
        "window": options.window,
        "output_tokens": options.output_tokens,
        "most_corrections": MOST_CORRECTIONS,
        "unified_state": __version__,
        "client": os.environ.get("UNIFIED_STATE_REAL_CLIENT") or f"claude-agent-sdk {version('claude-agent-sdk')}",
    }


def _perform_all(
    plans: list[Plan],
    client: Path,
    results: Results,
    budget: Budget,
    upstream: Upstream,
    options: argparse.Namespace,
) -> str | None:
    """Perform what is missing; why it stopped, if it did."""
    for plan in plans:
        if results.has(plan.name):
            continue
        print(plan.name, file=sys.stderr, flush=True)
        try:
            _perform(plan, client, results, budget, upstream, options)
        except (RefusedError, RuntimeError, OSError) as error:
            return f"{plan.name}: {error}"
    return None


def _perform(
    plan: Plan, client: Path, results: Results, budget: Budget, upstream: Upstream, options: argparse.Namespace
) -> None:
    visible = [client, options.tasks.resolve(), *([options.host.resolve()] if options.host else [])]
    with (
        results.run(plan.name) as kept,
        tempfile.TemporaryDirectory(prefix="unified-state-") as folder,
        ClientWorld(
            Path(folder) / "w", lambda listener: Relay(listener, upstream, budget, kept / "requests.jsonl"), visible
        ) as world,
    ):
        world.prepare(client, options.model)
        world.window, world.output_tokens = options.window, options.output_tokens
        write_result(kept, perform(plan, world, options.host, kept))


if __name__ == "__main__":
    sys.exit(main())
