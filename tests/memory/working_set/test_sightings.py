from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.agents.transcripts.rules.call_effects import Call, call_of, read_call
from unified_state.lib.json_text import dump_json
from unified_state.memory.working_set.rules.sightings import (
    ASKED,
    EDITED,
    HEAT,
    HEAT_OF_READING,
    MENTIONED,
    SEEN,
    WRITTEN,
    Sighting,
    sightings,
)
from unified_state.model.known import COMMAND, ERROR, FILE, NO_FILE, REFERENCE
from unified_state.model.step import NOTICE, PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT, Step

ROOT = "/home/ada/shop"
WINDOWS = "C:\\Users\\ada\\shop"
texts = st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF))
values = st.recursive(st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner, max_size=3))
field_names = st.sampled_from(["file_path", "notebook_path", "command", "path", "pattern", "edits", "content", "todos"])


def step(kind: str, text: str, *, tool: str | None = None, is_error: bool = False) -> Step:
    return Step(uuid="u", block=0, kind=kind, at=5, text=text, tool=tool, is_error=is_error)


def seen(found: Step, call: Call | None = None, root: str = ROOT) -> dict[tuple[str, str], Sighting]:
    """The sightings of a step by kind and name."""
    all_of_it = list(sightings(found, call, root))
    assert len({(sighting.kind, sighting.name) for sighting in all_of_it}) == len(all_of_it)
    return {(sighting.kind, sighting.name): sighting for sighting in all_of_it}


def called(tool: str, root: str = ROOT, **fields: Any) -> dict[tuple[str, str], Sighting]:
    made = step(TOOL_CALL, dump_json(fields), tool=tool)
    return seen(made, read_call(made), root)


def answered(
    text: str, tool: str, root: str = ROOT, *, is_error: bool = False, **fields: Any
) -> dict[tuple[str, str], Sighting]:
    return seen(step(TOOL_RESULT, text, is_error=is_error), call_of(tool, fields), root)


def ran(text: str, *, is_error: bool = False) -> dict[str, Any]:
    """How a command is remembered that printed a text."""
    return dict(answered(text, "Bash", command="make test", is_error=is_error)[COMMAND, "make test"].details)


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("Edit", {"old_string": "first_name", "new_string": "last_name"}),
        ("MultiEdit", {"edits": [{"old_string": "first_name", "new_string": "last_name"}]}),
        ("Write", {"content": "first_name + last_name"}),
    ],
)
def test_an_edit_shows_the_file_and_the_identifiers_in_what_was_written(tool: str, fields: dict[str, Any]) -> None:
    assert called(tool, file_path=f"{ROOT}/src/a.py", **fields) == {
        (FILE, "src/a.py"): Sighting(FILE, "src/a.py", EDITED, {"first_name", "last_name"}, heat=HEAT)
    }


def test_a_file_that_is_only_read_is_less_hot_than_one_that_is_edited() -> None:
    found = called("Read", file_path=f"{ROOT}/src/a.py", limit=10)
    assert found[FILE, "src/a.py"] == Sighting(FILE, "src/a.py", WRITTEN, heat=HEAT_OF_READING)
    assert HEAT_OF_READING < HEAT


def test_what_was_read_shows_the_identifiers_in_the_file() -> None:
    found = answered("     1\u2192def parse_config():", "Read", file_path=f"{ROOT}/src/a.py")
    assert found == {(FILE, "src/a.py"): Sighting(FILE, "src/a.py", SEEN, {"parse_config"})}


def test_what_the_agent_wrote_counts_more_than_what_the_user_asked_and_that_more_than_what_was_printed() -> None:
    said = seen(step(TEXT, "see parse_config in src/a.py, #12"))
    asked = seen(step(PROMPT, "see parse_config in src/a.py, #12"))
    assert {name: sighting.weight for name, sighting in said.items()} == {
        (FILE, "src/a.py"): WRITTEN,
        (REFERENCE, "#12"): WRITTEN,
        (FILE, NO_FILE): WRITTEN,
    }
    assert {sighting.weight for sighting in asked.values()} == {ASKED}
    assert WRITTEN > ASKED > SEEN > MENTIONED


@pytest.mark.parametrize("kind", [THINKING, NOTICE])
def test_what_nobody_said_shows_nothing(kind: str) -> None:
    assert seen(step(kind, "see parse_config in src/a.py")) == {}


def test_a_command_shows_itself_and_the_names_in_it() -> None:
    found = called("Bash", command="  pytest tests/test_a.py -k test_parse\n", description="run it")
    assert list(found) == [
        (COMMAND, "pytest tests/test_a.py -k test_parse"),
        (FILE, "tests/test_a.py"),
        (FILE, NO_FILE),
    ]
    assert found[FILE, NO_FILE].words == {"test_parse"}


def test_a_result_is_remembered_with_the_very_command_it_answers_however_long_that_is() -> None:
    command = f"echo {'x' * 1000}"
    (name,) = (name for kind, name in called("Bash", command=command) if kind == COMMAND)
    assert (COMMAND, name) in answered("ok", "Bash", command=command)
    assert len(name) <= 300


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n  \n"])
def test_a_command_ends_with_its_last_line(end: str) -> None:
    assert ran(f"collected 5 items{end}5 passed{end}") == {"failed": False, "last": "5 passed", "failing": []}


@pytest.mark.parametrize(
    "line",
    [
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "ERROR collecting tests/test_a.py",
        "E   AssertionError: assert 1 == 2",
        "--- FAIL: TestParse (0.04s)",
        "FAIL\texample.com/shop\t0.7s",
        "ValueError: invalid literal",
        "src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
        "error[E0308]: mismatched types",
        "src/a.c:3:5: error: expected ';'",
        "fatal: not a git repository",
        "panic: runtime error: index out of range",
        "not ok 3 - parses",
        "java.lang.IllegalStateException: closed",
    ],
)
def test_lines_that_tell_of_failures_are_remembered(line: str) -> None:
    told = " ".join(line.split())
    found = answered(f"some output\n{line}\n1 failed in 0.1s", "Bash", command="make")
    assert found[COMMAND, "make"].details == {"failed": False, "last": "1 failed in 0.1s", "failing": [told]}
    assert found[ERROR, told].weight == SEEN


@pytest.mark.parametrize(
    "text",
    [
        "0 errors, 3 warnings",
        "error_handler.py\nother.py",
        "errors are rare",
        "no failures",
        "Found 0 errors.",
        "mirror done",
    ],
)
def test_output_that_only_names_errors_tells_of_no_failure(text: str) -> None:
    assert ran(text)["failing"] == []


def test_of_many_failures_the_first_distinct_ones_are_remembered() -> None:
    lines = [f"FAILED tests/test_a.py::test_{number // 2}" for number in range(20)]
    assert ran("\n".join(lines))["failing"] == [f"FAILED tests/test_a.py::test_{number}" for number in range(3)]


def test_a_failure_without_a_telling_line_is_told_by_its_last_line() -> None:
    found = answered("doing this\nmake: *** [all] Stop.", "Bash", command="make", is_error=True)
    assert found[COMMAND, "make"].details["failing"] == ["make: *** [all] Stop."]
    assert (ERROR, "make: *** [all] Stop.") in found


def test_failures_of_a_long_output_are_looked_for_at_its_end() -> None:
    assert ran("x\n" * 50_000 + "FAILED tests/test_a.py::test_b\n")["failing"] == ["FAILED tests/test_a.py::test_b"]


def test_the_names_in_an_output_count_little_and_files_in_it_not_at_all() -> None:
    found = answered("src/a.py: parse_config, #12", "Bash", command="make")
    assert {name: sighting.weight for name, sighting in found.items()} == {
        (COMMAND, "make"): MENTIONED,
        (REFERENCE, "#12"): MENTIONED,
        (FILE, NO_FILE): MENTIONED,
    }


def test_a_search_shows_the_files_with_the_identifiers_in_their_lines() -> None:
    lines = [f"{ROOT}/src/a.py:3:def parse_config():", "src/b.py:parse_all()", "--", "src/b.py-4- x: y", "a.md:9:my_a"]
    found = answered("\n".join(lines), "Grep", pattern="parse")
    assert {name: sighting.words for (_, name), sighting in found.items()} == {
        "src/a.py": {"parse_config"},
        "src/b.py": {"parse_all"},
        "a.md": {"my_a"},
    }


def test_paths_of_windows_are_named_as_the_repository_names_them() -> None:
    edited = called("Edit", WINDOWS, file_path=f"{WINDOWS}\\src\\a.py", new_string="x")
    said = seen(step(TEXT, f"see src\\a.py, {WINDOWS}\\src\\b.py"), root=WINDOWS)
    found = answered(
        f"src\\a.py:3:parse_all()\r\n{WINDOWS}\\src\\b.py:4:parse_me()\r\n", "Grep", WINDOWS, pattern="parse"
    )
    assert set(edited) == {(FILE, "src/a.py")}
    assert set(said) == set(found) == {(FILE, "src/a.py"), (FILE, "src/b.py")}


def test_a_long_text_without_spaces_is_looked_at_too() -> None:
    found = seen(step(TEXT, "修复了parse_config函数。" + "继续工作。" * 10_000))
    assert found[FILE, NO_FILE].words == {"parse_config"}


@pytest.mark.parametrize("path", ["x" * 100_000 + ".py", 7, None, ["a.py"], {"a": 1}, ""])
def test_what_is_no_path_is_no_file(path: object) -> None:
    assert [name for kind, name in called("Edit", file_path=path, new_string="") if kind == FILE] == []


@given(
    st.sampled_from([PROMPT, TEXT, TOOL_CALL, TOOL_RESULT]),
    texts,
    st.sampled_from(["Read", "Edit", "Bash", "Grep", ""]),
    st.dictionaries(field_names, values, max_size=4),
    st.sampled_from([ROOT, WINDOWS, ""]),
    st.booleans(),
)
def test_no_step_shows_more_than_a_bounded_amount(
    kind: str, text: str, tool: str, fields: dict[str, Any], root: str, is_error: bool
) -> None:
    for sighting in sightings(step(kind, text, is_error=is_error), call_of(tool, fields), root):
        assert sighting.weight > 0
        assert len(sighting.name) <= 1_000
        assert len(sighting.words) <= 2_000
