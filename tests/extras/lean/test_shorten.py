from __future__ import annotations

import pytest

from unified_state.extras.lean.rules.cut_marks import with_handle
from unified_state.extras.lean.rules.shorten import LEVELS, MIDDLE, shorten
from unified_state.model.step import ShortForm

LONG = "".join(f"step {number} of the long way\n" for number in range(3_000))


def short_of(command: str, output: str, level: int = MIDDLE) -> ShortForm:
    """The short form of a command's output."""
    short = shorten("Bash", {"command": command}, output, level)
    assert short is not None
    return short


def test_a_tighter_level_shows_no_more() -> None:
    sizes = [len(short_of("./run.sh", LONG, level).text) for level in LEVELS]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_of_an_unknown_kind_head_and_tail_stay() -> None:
    short = short_of("./run.sh", LONG)
    assert short.kind == "output"
    assert short.text.startswith("step 0 of")
    assert short.text.endswith("step 2999 of the long way\n")
    assert len(short.shown) == 2


def test_an_error_far_from_both_ends_of_a_huge_output_stays() -> None:
    short = short_of("./run.sh", LONG * 20 + "Traceback: here\n" + LONG * 20, 3)
    assert "step 2999 of the long way\nTraceback: here\nstep 0 of the long way\n" in short.text


def test_the_handle_tells_how_much_is_shown_and_how_to_see_the_rest() -> None:
    short = ShortForm("log", "a\n[… 2,960 lines]\nb\n", ((1, 20), (2_981, 3_000)), (), 3_000, 90_000)
    first, _, rest = with_handle(short, "S1234").partition("\n")
    assert first == "[S1234: 3,000 lines, shown 40; show S1234 --lines 21:80 | --grep REGEX]"
    assert rest == short.text


def test_the_handle_proposes_the_longest_cut_to_its_end_at_most() -> None:
    short = ShortForm("log", "", ((1, 5), (9, 10), (30, 40)), (7,), 40, 4_000)
    assert with_handle(short, "S1").startswith("[S1: 40 lines, shown 18 and parts of 1; show S1 --lines 11:29 |")


def test_of_one_long_line_the_handle_proposes_no_lines() -> None:
    short = short_of("./run.sh", "word " * 20_000)
    assert (short.lines, short.shown, short.parts) == (1, (), (1,))
    assert with_handle(short, "S9").startswith("[S9: 1 line, shown 0 and parts of 1; show S9 --grep REGEX]\n")


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "unified-state recall S12"}),
        ("Bash", {"command": "cd x && unified-state search pool | head"}),
        ("Bash", {"command": "/usr/local/bin/unified-state why D7"}),
        ("Bash", {"command": "bash -lc 'cd x && unified-state recall S12'"}),
        ("Bash", {"command": "timeout 20 unified-state recall S12"}),
        ("Bash", {"command": "unified-state.exe recall S12"}),
        ("mcp__unified-state__recall", {"ref": "S12"}),
        ("mcp__plugin_unified_state__search", {"query": "pool"}),
        ("AskUserQuestion", {}),
        ("TodoWrite", {}),
    ],
)
def test_what_was_recalled_and_what_the_user_said_is_left_as_it_is(tool: str, given: dict[str, str]) -> None:
    assert shorten(tool, given, LONG, 3) is None


def test_carriage_returns_and_escape_sequences_stay_as_they_are() -> None:
    output = "".join(f"\x1b[32mstep {number}\x1b[0m\r\n" for number in range(2_000))
    short = short_of("./run.sh", output)
    assert short.text.startswith("\x1b[32mstep 0\x1b[0m\r\n\x1b[32mstep 1\x1b[0m\r\n")


def test_a_form_that_saves_little_is_none() -> None:
    lines = "".join(f"src/a{number}.py:1: error: bad\n" for number in range(60))
    assert shorten("Bash", {"command": "make"}, lines, 3) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "@@ -{n} +{n} @@\n+added line {n}\n context line of it\n",
        '  {{\n    "name": "abc{n}",\n    "value": {n}\n  }},\n',
        "src/part/file{n}.py\n",
        "src/part/file{n}.py:{n}:def acquire{n}(pool)\n",
        "2026-01-02 10:00:01 INFO handled request\n",
        "step {n} of the long way\n",
    ],
)
def test_an_error_stays_in_whatever_kind(pattern: str) -> None:
    begin = "[\n" if pattern.startswith("  {") else ""
    output = begin + "".join(pattern.format(n=number) for number in range(2_000))
    middle = output.index("\n", len(output) // 2) + 1
    short = short_of("./run.sh && rg x", output[:middle] + "error: the pool is closed\n" + output[middle:], 3)
    assert "\nerror: the pool is closed\n" in short.text
