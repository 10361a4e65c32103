"""What the user laid down comes back after every compaction: recorded rules, and the words of the first prompt."""

from __future__ import annotations

import json

from tests.amount import amount

from .product import Project
from .transcripts import Transcript

SESSION = "5a1e0000-0000-4000-8000-00000000c0de"
SAID = ["Write tests first (TDD).", "please use the british spelling", "keep it local!", "ignore the existing PR"]
RECORDED = ["Never store card numbers", "Prices have two decimals", "The invoice number has ten digits"]
SUMMARY = "1. Work: the export of invoices is half done.\n2. Next: finish it."


def first_prompt(project: Project) -> Transcript:
    written = Transcript(SESSION, cwd=str(project.folder))
    written.prompt("Please add the export of invoices.\n\n" + "\n".join(f"- {text}" for text in SAID))
    return written


def test_rules_and_the_first_prompt_stand_in_the_restore_after_1_5_and_20_compactions(project: Project) -> None:
    for text in RECORDED:
        assert project.run("constraint", "add", text, "--source", "me").code == 0
    written, path = first_prompt(project), project.folder.parent / f"{SESSION}.jsonl"
    for number in range(120):
        written.turn(number)
    for compaction in range(1, amount(20, 5) + 1):
        project.keep(written, path)
        written.compaction(SUMMARY)
        written.write(path)
        done = project.hook("SessionStart", "brief", transcript_path=str(path), session_id=SESSION, source="compact")
        brief = json.loads(done.out)["hookSpecificOutput"]["additionalContext"]
        if compaction in {1, 5, 20}:
            assert [text for text in RECORDED if text not in brief] == []
            assert [text for text in SAID if text not in brief] == []
        written.turn(200 + compaction)
