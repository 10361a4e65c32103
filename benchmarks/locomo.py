"""LoCoMo: whether search finds the turns that hold the answer to a question, in conversations over many sessions.

    python -m benchmarks.locomo FILE [--json] [--half tune|report] [--walk] [--vectors off|minilm …]

FILE is locomo10.json as its authors publish it, packed (.xz) or not. Each conversation is archived as a project of its
own. Offline, and the same in every run. With --vectors, search is also asked with the meaning that a model sees. The
first of several is what the others are compared with, question by question. docs/explanation/how-it-is-measured.md
tells what the measures mean.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.ask_conversation import ask, method_of
from benchmarks.conversations import halves
from benchmarks.locomo_data import CATEGORIES, load_conversations
from benchmarks.retrieval import Found, Summed, print_found
from unified_state.setting_table import MINILM, OFF

_SUMMED = Summed("categories 1-4", tuple(CATEGORIES[number] for number in (1, 2, 3, 4)))  # those with an answer


def main(arguments: list[str] | None = None) -> int:
    """Ask all questions of a file and print the tables."""
    parser = described(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--half", choices=["tune", "report"], help="every second conversation alone")
    parser.add_argument("--walk", action="store_true", help="also order the hits by a random walk between them")
    parser.add_argument(
        "--vectors", nargs="+", choices=[OFF, MINILM], default=[OFF], help="what search goes by, beside words"
    )
    options = parser.parse_args(arguments)
    found: list[Found] = []
    for conversation in halves(load_conversations(options.file), options.half):
        print(f"{conversation.name}: {len(conversation.questions)} questions", file=sys.stderr)
        found += ask(conversation, options.vectors, walks=options.walk)
    print_found(found, _SUMMED, list(map(method_of, options.vectors)), as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
