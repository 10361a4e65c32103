"""Record the picture of the README: Claude Code itself, a rule, a compaction, a question, without and with the product.

    python -m evaluation.recording

The client runs in a sandbox. The model is a script: its summary leaves the rule out, and it answers with what its
request holds. Rows that differ by chance, and the folder of the program, are left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import escape, unescape
from itertools import pairwise
from pathlib import Path

from benchmarks.real_client import needed_client, temporary_scenario
from tests.real_client.installed import installed, restores
from tests.real_client.messages import Request
from tests.real_client.scenario import NEW_MODEL, Scenario
from tests.real_client.terminal import Terminal

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "recording.svg"
RULE = "never push to main"
PROMPTS = (f"rule: {RULE}", "/compact", "What was my rule?")
SUMMARY = "<summary>The user prepares a release. The changelog is written; the tag comes next.</summary>"
TITLES = ("Claude Code", "Claude Code with unified-state")
CAPTION = (
    "Recorded from Claude Code by evaluation/recording.py. The model is a script: its summary leaves the rule out,",
    "and it answers with what its request holds. Green: what unified-state shows.",
)
PROMPT = "\u276f"
COLUMNS, ROW, TOP, MARGIN = 56, 19, 74, 24
WIDTH = COLUMNS * 8
_STYLE = (
    "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}"
    ".title,.asked{font-weight:bold;fill:#f0f6fc}.dim{fill:#8b949e}.ours{fill:#3fb950}"
    "@keyframes show{from{opacity:0}5%,to{opacity:1}}"
    ".s1{animation:show 2s 3s backwards}.s2{animation:show 2s 7s backwards}"
)

Step = list[str]


def main() -> int:
    """Record, and write the picture."""
    client = needed_client()
    columns = []
    for with_product in (False, True):
        with temporary_scenario(client, NEW_MODEL) as scenario:
            columns.append(recorded(scenario, with_product=with_product))
    PICTURE.write_text(drawn(columns), encoding="utf-8", newline="\n")
    return 0


def recorded(scenario: Scenario, *, with_product: bool) -> list[Step]:
    """What each of the three prompts adds to the screen."""
    if with_product:
        installed(scenario)
    scenario.api.script("main", "Understood.", _answer)
    scenario.api.script("compact", SUMMARY)
    screens: list[list[str]] = [[]]
    with Terminal(scenario, columns=COLUMNS) as terminal:
        for prompt, end in zip(PROMPTS, ("● Understood", "Compacted", "● Your"), strict=True):
            terminal.enter(prompt)
            terminal.wait_for(end)
            if with_product and prompt == "/compact":
                terminal.wait_for("came back")
            screens.append(_conversation(terminal.screen()))
    return [after[len(before) :] for before, after in pairwise(screens)]


def _answer(request: Request) -> str:
    texts = [*restores(request), *(text for _, text in request.texts())]
    found = [line.strip() for text in texts for line in text.splitlines() if RULE in line]
    return f"Your rule is: {RULE}. My request says:\n{found[0]}" if found else "Your rule is not in what I know."


def _conversation(screen: str) -> list[str]:
    """The rows between the client's title and its prompt."""
    # Where the client wraps the hook's path depends on its length.
    rows = re.sub(r"\[/[^\]]*\s(\w+)\]", r"[unified-state-hook\n     \1]", screen).splitlines()
    begin = next(number for number, row in enumerate(rows) if row.startswith(PROMPT))
    end = next(number for number, row in enumerate(rows) if row.startswith("───"))
    shown = [row.replace("⎿", "└").rstrip() for row in rows[begin:end] if not re.match(r"[✻✢✶✽·*]|.*◐", row)]
    return list(filter(None, shown))


def drawn(columns: list[list[Step]]) -> str:
    """The picture of both conversations, one beside the other; each step comes in behind the one before."""
    height = TOP + max(sum(len(step) + 1 for step in column) for column in columns) * ROW + 60
    width = 2 * WIDTH + 3 * MARGIN
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t">'
    return "\n".join([begin, *_lines(columns, width, height), "</svg>", ""])


def _lines(columns: list[list[Step]], width: int, height: int) -> Iterator[str]:
    yield '<title id="t">After a compaction Claude Code has forgotten a rule; with unified-state it comes back</title>'
    yield f"<style>{_STYLE}</style>"
    yield f'<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>'
    for x, title, steps in zip((MARGIN, 2 * MARGIN + WIDTH), TITLES, columns, strict=True):
        yield _text(x, 36, title, "title")
        yield f'<path d="M{x} 48h{WIDTH}" stroke="#30363d"/>'
        y = TOP
        for number, step in enumerate(steps):
            yield f'<g class="s{number}">'
            for row, name in _named(step):
                yield _text(x, y, row, name)
                y += ROW
            yield "</g>"
            y += ROW
    for number, line in enumerate(CAPTION):
        yield _text(MARGIN, height - 40 + number * ROW, line, "dim")


def _named(step: Step) -> Iterator[tuple[str, str]]:
    """Each row, and whether it is what was asked, the client's, or ours."""
    ours = False
    for row in step:
        if not row.startswith(" "):
            ours = False
        elif row.lstrip().startswith(("└", "PreCompact")):
            ours = "Compacted" not in row
        yield row, "asked" if row.startswith(PROMPT) else "ours" if ours else "dim" if row.startswith(" ") else "said"


def _text(x: int, y: int, text: str, name: str) -> str:
    return f'<text x="{x}" y="{y}" class="{name}">{escape(text, quote=False)}</text>'


def ours_in(picture: str) -> list[str]:
    """The words that the picture shows as ours."""
    return " ".join(map(unescape, re.findall(r'class="ours">(.*?)</text>', picture))).split()


if __name__ == "__main__":
    sys.exit(main())
