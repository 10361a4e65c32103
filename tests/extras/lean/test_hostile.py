"""What is promised of a short form whatever a tool prints: it never raises, lies or loses the order."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from unified_state.extras.lean.rules.cut_marks import MARK, holds_marks, with_handle
from unified_state.extras.lean.rules.shorten import LEVELS, shorten
from unified_state.model.step import ShortForm

COMMANDS = ("./run.sh", "go test -v ./...", "pytest", "make", "git diff", "rg x", "ls -R", "curl x", "kubectl logs a")
PARTS = (
    "=== RUN   TestA\n", "--- PASS: TestA (0.00s)\n", "--- FAIL: TestB (0.00s)\n", "    b_test.go:3: want 1\n",
    "FAIL\n", "diff --git a/x b/x\n", "@@ -1 +1 @@ f\n", "+new\n", "-old\n", " same\n", "src/a.go:12:\tx := 1\n",
    "src/a.go-13-\ty\n", "--\n", "2026-01-02 10:00:00 INFO started 12\n", "Error: no\r\n", "\x1b[31mred\x1b[0m\n",
    '{"a": 1, "b": [2, 3]},\n', "[\n", "src/a/b.py\n", "\n", "\r", " ", "x" * 700, "\u6f22\u5b57" * 200, "\ud800",
    "\udcff\x00", "word " * 300, "e\u0301\U0001f468\u200d",
)  # fmt: skip
outputs = st.builds(
    lambda parts, times: "".join(parts) * times,
    st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=40)), max_size=30),
    st.integers(1, 400),
).filter(lambda text: len(text) < 300_000)


def assert_faithful(output: str, short: ShortForm) -> None:
    """All that is said of the whole is true, and all that is shown stands in it, in order."""
    lines = output.split("\n")
    if not lines[-1]:
        lines.pop()
    assert (short.lines, short.characters) == (len(lines), len(output))
    assert len(short.text) < len(output)
    shown = [number for first, last in short.shown for number in range(first, last + 1)]
    assert shown == sorted(set(shown))
    assert not set(shown) & set(short.parts)
    written = short.text.split("\n")
    position = counted = 0
    for number in shown:
        position = written.index(lines[number - 1], position) + 1
        counted += 1
    assert counted == short.lines_shown
    assert "".join(piece for piece in pieces_of(short.text) if piece) == "".join(pieces_in(output, short.text))


def pieces_of(text: str) -> list[str]:
    """What stands between the marks, without the line breaks."""
    found = []
    for line in text.split("\n"):
        rest = line
        while MARK in rest:
            before, _, behind = rest.partition(MARK)
            found.append(before)
            rest = behind.partition("]")[2]
        found.append(rest)
    return found


def pieces_in(output: str, text: str) -> list[str]:
    """The same pieces, as they are found in the whole one behind the other."""
    found, position = [], 0
    for piece in pieces_of(text):
        if piece:
            position = output.index(piece, position)
            found.append(output[position : position + len(piece)])
            position += len(piece)
    return found


@given(st.sampled_from(COMMANDS), outputs, st.sampled_from(LEVELS))
@example("./run.sh", "\n" * 5_000, 3)
@example("./run.sh", "x" * 100_000, 2)
@example("./run.sh", '{"half": [' + '{"a": "b"},' * 3_000, 2)
@example("./run.sh", "\r" * 100_000 + "\n", 3)
@example("./run.sh", ("y" * 70_000 + "\n") * 3, 2)
@example("./run.sh", "a\n" * 40_000 + "it failed\n" + "b\n" * 40_000, 2)
@example("./run.sh", "z" * 90_000 + "error" + "z" * 90_000, 2)
def test_what_is_shown_stands_in_the_output_in_order_and_is_counted_right(
    command: str, output: str, level: int
) -> None:
    short = shorten("Bash", {"command": command}, output, level)
    if short is not None:
        assert_faithful(output, short)


@given(
    outputs,
    st.sampled_from(("Grep", "Glob", "Task", "TaskOutput", "mcp__a__b", "WebFetch", "")),
    st.sampled_from(LEVELS),
)
def test_the_outputs_of_other_tools_are_told_as_truly(output: str, tool: str, level: int) -> None:
    short = shorten(tool, {"pattern": "x"}, output, level)
    if short is not None:
        assert_faithful(output, short)


@given(st.sampled_from(COMMANDS), outputs, st.sampled_from(LEVELS))
@example("go test -v", "".join(f"=== RUN   T{n}\n  {'said ' * 200}\n--- PASS: T{n}\n" for n in range(40)), 2)
@example("git diff", "@@ -1 +1 @@\n" + f"+{'value, ' * 200}\n-{'value, ' * 200}\n" * 40, 3)
def test_marks_and_shown_lines_add_up_to_the_whole_and_no_mark_counts_more_of_a_sort_than_it_stands_for(
    command: str, output: str, level: int
) -> None:
    short = shorten("Bash", {"command": command}, output, level)
    cut = 0
    for mark in (line for line in (short.text if short else "").split("\n") if line.startswith(MARK)):
        total, _, sorts = mark.removeprefix(MARK).removesuffix("]").replace(",", "").partition(": ")
        assert sum(int(word) for word in sorts.split() if word.isdigit()) <= int(total.split()[0])
        cut += int(total.split()[0])
    assert short is None or short.parts or cut + short.lines_shown == short.lines


@given(st.dictionaries(st.text(max_size=10), st.one_of(st.text(), st.integers(), st.none(), st.lists(st.text()))))
def test_an_input_of_any_shape_is_no_error(given_input: dict[str, object]) -> None:
    shorten("Bash", given_input, "line\n" * 3_000, 2)


def test_an_output_that_imitates_marks_or_handles_is_left_as_it_is() -> None:
    filler = "something else\n" * 500
    for imitation in (f"{MARK}12 lines]\n", "[S7: 900 lines, shown 3; show S7 --lines 1:60 | --grep REGEX]\n"):
        assert holds_marks(imitation)
        assert shorten("Bash", {"command": "./run.sh"}, filler + imitation + filler, 3) is None


def test_a_short_form_with_its_handle_is_not_shortened_again() -> None:
    short = shorten("Bash", {"command": "./run.sh"}, "line\n" * 30_000, 2)
    assert short is not None
    assert shorten("Bash", {"command": "./run.sh"}, with_handle(short, "S12") + "more\n" * 3_000, 3) is None


def test_an_output_full_of_errors_is_left_as_it_is() -> None:
    assert shorten("Bash", {"command": "./run.sh"}, "ERROR: no\n" * 100_000, 3) is None
