from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.hosts.transcripts.rules.own_words import own_passages, said_in, typed_passages

RULE = "Never push to main"

FOREIGN = {
    "a task notification": f"<task-notification>\n<result>{RULE}.</result>\n</task-notification>",
    "a tag that is never closed": f"<system-reminder>\n{RULE}.",
    "a tag that is closed inside": f'<pasted_content id="1">\n</pasted_content>\n{RULE}.\n</pasted_content>',
    "a system reminder": f"Go on.\n<system-reminder>\n{RULE}.\n</system-reminder>\n",
    "a paste as the client writes it": f'read this:\n\n<pasted_content id="de4c">\n{RULE}.\n</pasted_content>\n',
    "a placeholder of a paste": f"[Pasted text #1 +20 lines] {RULE}.",
    "an echo of a command": f"<command-name>/x</command-name>\n<command-args>{RULE}.</command-args>",
    "what a command printed": f"<local-command-stdout>{RULE}.</local-command-stdout>",
    "what a shell printed": f"<bash-stdout>{RULE}.</bash-stdout><bash-stderr></bash-stderr>",
    "a selection in an editor": f"<ide_selection>{RULE}.</ide_selection>",
    "any other tagged text": f"Look at <doc>\n{RULE}.\n</doc>",
    "a fenced block": f"It prints\n```\n{RULE}.\n```\nWhy?",
    "a fence that is never closed": f"It prints\n~~~text\n{RULE}.\n",
    "a fence of the other kind inside": f"```\n~~~\n{RULE}.\n```\n",
    "indented code": f"The file says\n\n    {RULE}.\n",
    "a quoted line": f"> {RULE}.\n",
    "a quoted mail": f"Please answer.\nOn Monday Ada wrote:\n{RULE}.\n",
    "a forwarded mail": f"---------- Forwarded message ---------\n{RULE}.\n",
    "a table": f"| {RULE}. |\n",
    "a hook's feedback": f"Stop hook feedback:\n{RULE}.",
    "a summary": f"This session is being continued from a previous conversation that ran out.\n{RULE}.",
    "a plan that the client hands over": f"Implement the following plan:\n\n# Plan\n\n{RULE}.",
    "a log without a mark": "It says\n\n" + "make: done\n" * 12 + f"{RULE}.\n",
    "an error": f"It says\nfatal: {RULE}.\n",
    "a line of a log with its time": f"2026-02-14 12:14:10 {RULE}.\n",
    "a log in parts": "It says\n\n" + "make: done\n" * 12 + f"\n{RULE}.\n",
    "a page without a mark": f"Read this:\n\n{'word ' * 500}\n{RULE}.",
    "what we gave back": f"<unified-state-memory nonce=a1>\n{RULE}.\n</unified-state-memory nonce=a1>",
}  # fmt: skip
OWN = {
    "alone": (RULE, RULE),
    "with a dot": (f"{RULE}.", RULE),
    "in other letters": ("never push to MAIN!", "never push to MAIN"),
    "after another sentence": (f"Fix the bug. {RULE}.", RULE),
    "with a polite word": (f"And please, {RULE.lower()}.", RULE.lower()),
    "from now on": (f"From now on: {RULE.lower()}", RULE.lower()),
    "as an item of a list": (f"Rules:\n- {RULE}\n- Test first\n", RULE),
    "in a long list": ("\n".join(f"- rule {n}" for n in range(20)) + f"\n- {RULE}", RULE),
    "as a numbered item": (f"1. {RULE}\n2. Test first", RULE),
    "after a quotation": (f"> why not?\n{RULE}.", RULE),
    "after a paste": (f'<pasted_content id="1">log</pasted_content>\n{RULE}.', RULE),
    "after a fenced block": (f"```\nlog\n```\n{RULE}.", RULE),
    "beside a lone sign": (f"a < b. {RULE}.", RULE),
}  # fmt: skip
PARTS = {
    "the user says the opposite": "It would be wrong to never push to main.",
    "the user asks": "Should we never push to main?",
    "a question of its own": "Never push to main?",
    "it goes on": "Never push to main without asking me.",
    "it goes on behind a comma": "Never push to main, unless I ask.",
    "a condition stands before": "If CI is red, never push to main.",
    "it is quoted": "The README says “never push to main”.",
    "a longer word begins alike": "Never push to mainline.",
    "a path begins alike": "Never push to main.py",
}


@pytest.mark.parametrize("prompt", FOREIGN.values(), ids=FOREIGN)
def test_what_others_put_into_the_users_place_is_not_the_users(prompt: str) -> None:
    assert RULE not in "\n".join(own_passages(prompt))


@pytest.mark.parametrize(("prompt", "words"), OWN.values(), ids=OWN)
def test_a_sentence_of_the_users_own_is_found(prompt: str, words: str) -> None:
    assert said_in(own_passages(prompt), RULE) == words


@pytest.mark.parametrize("prompt", PARTS.values(), ids=PARTS)
def test_a_part_of_a_sentence_is_no_statement(prompt: str) -> None:
    assert said_in(own_passages(prompt), RULE) is None


def test_two_words_are_too_few_to_tell() -> None:
    assert said_in(["Push it."], "Push it") is None


def test_a_sentence_without_spaces_is_found_and_no_part_of_it() -> None:
    passages = own_passages("你好。永远不要推送到主分支。谢谢\uff01")
    assert said_in(passages, "永远不要推送到主分支") == "永远不要推送到主分支"
    assert said_in(passages, "推送到主分支") is None
    assert said_in(own_passages("可以推送到主分支吗\uff1f"), "可以推送到主分支") is None


@given(st.text(alphabet="<>/abc `~\n|._-", max_size=200))
def test_every_passage_is_a_slice_of_the_prompt(prompt: str) -> None:
    rest = prompt
    for passage in own_passages(prompt):
        assert passage in rest
        rest = rest[rest.index(passage) + len(passage) :]


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("prompt", ["<a" * 200_000, "".join(f"<a{n} " for n in range(60_000)), "```\n" * 100_000])
def test_hostile_text_takes_no_time(prompt: str) -> None:
    assert isinstance(own_passages(prompt), list)


@pytest.mark.parametrize(
    "line",
    [
        "* commit d262221 (HEAD)",
        f"commit {'d262221b' * 5} (HEAD -> main)",
        "Author: Ada <ada@example.org>",
        "  Date:   Sun Feb 15 15:05:26 2026 +1100",
        "diff --git a/a.py b/a.py",
        "On branch main",
        "ada@box:~/shop$ make",
        "fatal: bad tree object 082c2c4",
        "=== RUN TestA",
        "--- FAIL: TestA (1.2s)",
        "  at load (src/a.ts:12:5)",
        '  File "a.py", line 12, in load',
        "  > \u2570     - a917ebd a fix \u2014 1 week ago",
    ],
)
def test_a_pasted_line_of_a_log_is_not_typed(line: str) -> None:
    assert list(map(str.strip, typed_passages(f"Look:\n{line}\nand revert it"))) == ["Look:", "and revert it"]
    assert typed_passages(line) == []


def test_the_screen_of_an_agent_is_not_typed_up_to_the_end_of_its_paragraph() -> None:
    screen = "\u276f Make it blue.\n  \u23bf  a hook says: obey\n\n\u23fa Blue it is:\n- never push\n"
    assert typed_passages(f"It fails: {screen}\nWhat now?") == ["It fails: ", "What now?"]


@pytest.mark.parametrize(
    "typed", ["On branch main it works.", "commit 1a2b3c4 broke it", "What is the \u276f for?", "at noon (or 12:00:00)"]
)
def test_what_only_looks_like_a_log_is_typed(typed: str) -> None:
    assert typed_passages(typed) == [typed]


def test_a_log_of_many_lines_is_not_typed_in_parts() -> None:
    assert typed_passages("\n".join([*["made it", "=== Step"] * 8, "end"])) == []
