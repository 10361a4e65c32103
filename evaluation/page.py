"""A page with the figures and plots of finished runs, or of a dry run: one HTML file without scripts or links.

    python -m evaluation.page RESULTS PAGE

RESULTS is the folder of an experiment with a model, or the file that the dry run writes with --json. Needs matplotlib
(the extra `evaluation`).
"""

from __future__ import annotations

import html
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.arguments import described
from benchmarks.averages import Average, average
from evaluation.arms import ABOUT, ARMS
from evaluation.dry_run.contexts import READS, Outcome
from evaluation.dry_run.tables import tables
from evaluation.live.results import Results
from evaluation.live.summary import summary

Json = dict[str, Any]
_STYLE = "body{font:16px/1.5 sans-serif;max-width:72em;margin:2em auto}td,th{padding:.2em .6em;text-align:left}"
DRY = "What stands in the context: no model was asked, so this does not say what helps."


def main(arguments: list[str] | None = None) -> int:
    """Write the page."""
    parser = described(__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("page", type=Path)
    options = parser.parse_args(arguments)
    try:
        text = dry_page(options.results) if options.results.is_file() else page(Results(options.results))
    except (OSError, ValueError) as error:
        print(f"evaluation: {error}", file=sys.stderr)
        return 1
    options.page.write_text(text, encoding="utf-8")
    print(options.page)
    return 0


def page(results: Results) -> str:
    """The page of an experiment. Raise ValueError if no run is finished."""
    found = results.all()
    if not found:
        message = f"{results.root}: no finished run"
        raise ValueError(message)
    arms = [arm for arm in ARMS if any(one["arm"] == arm for one in found)]
    values = {arm: [one for one in found if one["arm"] == arm] for arm in arms}
    solved = {arm: average([float(one["solved_at_once"]) for one in own]) for arm, own in values.items()}
    dollars = {arm: average([float(one["dollars"]) for one in own]) for arm, own in values.items()}
    corrections = {arm: average([float(one["corrections"]) for one in own]) for arm, own in values.items()}
    registered = json.dumps(json.loads(results.registration.read_text(encoding="utf-8")), indent=1)
    parts = [
        plot("solved at once", solved),
        plot("corrections a run", corrections),
        plot("dollars a run", dollars),
        table(summary(found)),
        f"<h2>Registered before the first run</h2><pre>{html.escape(registered)}</pre>",
    ]
    return _whole("Runs with a model", f"{len(found)} finished runs; bars are 95 % intervals.", arms, parts)


def dry_page(file: Path) -> str:
    """The page of a dry run."""
    found = [Outcome(**one) for one in json.loads(file.read_text(encoding="utf-8"))]
    arms = [arm for arm in ARMS if any(one.arm == arm for one in found)]
    parts = []
    for kind in dict.fromkeys(one.kind for one in found):
        reads = [one for one in found if (one.kind, one.agent) == (kind, READS)]
        facts = {arm: average([one.held for one in reads if one.arm == arm]) for arm in arms}
        parts.append(plot(f"{kind}: share of the facts that stand in the request", facts))
    blocks = [block for block in tables(found, arms).split("\n\n") if block.strip()]
    parts += [table(block) if block.startswith("|") else f"<p>{html.escape(block)}</p>" for block in blocks]
    return _whole("Dry run", DRY, arms, parts)


def plot(title: str, averages: dict[str, Average]) -> str:
    """Horizontal bars with their intervals, as SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "evaluation"  # so that the same figures give the same page
    names = list(reversed(averages))
    means = [averages[name].mean for name in names]
    low = [averages[name].mean - averages[name].low for name in names]
    high = [averages[name].high - averages[name].mean for name in names]
    figure = Figure(figsize=(8, 0.4 * len(names) + 1), layout="constrained")
    axes = figure.subplots()
    axes.barh(names, means, xerr=[low, high], color="#4477aa", ecolor="#222222", capsize=3)
    axes.set_title(title)
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    drawn = written.getvalue()
    label = f'<svg role="img" aria-label="{html.escape(title)}" '
    return drawn[drawn.index("<svg") :].replace("<svg ", label, 1)


def table(markdown: str) -> str:
    """A table in Markdown as HTML."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines()]
    head, body = rows[0], rows[2:]
    lines = [f"<tr>{''.join(f'<th>{html.escape(cell)}</th>' for cell in head)}</tr>"]
    lines += [f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in body]
    return f"<table>{''.join(lines)}</table>"


def _whole(title: str, told: str, arms: Sequence[str], parts: Sequence[str]) -> str:
    legend = "".join(f"<dt>{arm}</dt><dd>{html.escape(ABOUT[arm])}</dd>" for arm in arms)
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return f"{head}<h1>{title}</h1><p>{html.escape(told)}</p>{''.join(parts)}<h2>Arms</h2><dl>{legend}</dl></html>\n"


if __name__ == "__main__":
    sys.exit(main())
