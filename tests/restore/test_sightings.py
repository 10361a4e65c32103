from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.hosts.transcripts.rules.call_effects import Call, call_of, read_call
from unified_state.lib.json_text import dump_json
from unified_state.model.step import NOTICE, PROMPT, TEXT, THINKING, TOOL_CALL, TOOL_RESULT, Step
from unified_state.restore.rules.sightings import (
    EDITED,
    SEEN,
    WRITTEN,
    Sighting,
    sightings,
)

ROOT = "/home/ada/shop"
WINDOWS = "C:\\Users\\ada\\shop"
texts = st.text(st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF))
values = st.recursive(st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner, max_size=3))
field_names = st.sampled_from(["file_path", "notebook_path", "command", "path", "pattern", "edits", "content", "todos"])


def step(kind: str, text: str, *, tool: str | None = None, is_error: bool = False) -> Step:
    return Step(uuid="u", block=0, kind=kind, at=5, text=text, tool=tool, is_error=is_error)


def seen(found: Step, call: Call | None = None, root: str = ROOT) -> dict[str, Sighting]:
    """The sightings of a step by their paths."""
    all_of_it = list(sightings(found, call, root))
    assert len({sighting.path for sighting in all_of_it}) == len(all_of_it)
    return {sighting.path: sighting for sighting in all_of_it}


def called(tool: str, root: str = ROOT, **fields: Any) -> dict[str, Sighting]:
    made = step(TOOL_CALL, dump_json(fields), tool=tool)
    return seen(made, read_call(made), root)


def answered(text: str, tool: str, root: str = ROOT, *, is_error: bool = False, **fields: Any) -> dict[str, Sighting]:
    return seen(step(TOOL_RESULT, text, is_error=is_error), call_of(tool, fields), root)


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("Edit", {"old_string": "first_name", "new_string": "first_name + last_name"}),
        ("MultiEdit", {"edits": [{"old_string": "", "new_string": "first_name + last_name"}]}),
        ("Write", {"content": "first_name + last_name"}),
    ],
)
def test_an_edit_shows_the_file_and_the_identifiers_in_what_was_written(tool: str, fields: dict[str, Any]) -> None:
    whole = {"first_name", "last_name"} if tool == "Write" else None
    assert called(tool, file_path=f"{ROOT}/src/a.py", **fields) == {
        "src/a.py": Sighting("src/a.py", EDITED, {"first_name", "last_name"}, whole=whole, is_used=True)
    }


@pytest.mark.parametrize(
    ("tool", "fields"),
    [
        ("Edit", {"old_string": "first_name", "new_string": "last_name"}),
        ("MultiEdit", {"edits": [{"old_string": "first_name", "new_string": "last_name"}]}),
    ],
)
def test_an_edit_takes_away_the_identifiers_that_it_removes(tool: str, fields: dict[str, Any]) -> None:
    assert called(tool, file_path=f"{ROOT}/src/a.py", **fields) == {
        "src/a.py": Sighting("src/a.py", EDITED, {"last_name"}, {"first_name"}, is_used=True)
    }


def test_a_patch_takes_away_the_identifiers_that_it_removes() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n my_kept\n-my_old my_moved\n+my_new my_moved\n*** End Patch"
    found = called("apply_patch", input=patch)["a.py"]
    assert (found.words, found.lost) == ({"my_kept", "my_new", "my_moved"}, {"my_old"})


def test_a_file_that_a_call_reads_is_used() -> None:
    found = called("Read", file_path=f"{ROOT}/src/a.py", limit=10)
    assert found["src/a.py"] == Sighting("src/a.py", WRITTEN, is_used=True)


def test_what_was_read_shows_the_identifiers_in_the_file() -> None:
    found = answered("     1\u2192def parse_config():", "Read", file_path=f"{ROOT}/src/a.py")
    assert found == {"src/a.py": Sighting("src/a.py", SEEN, {"parse_config"}, whole={"parse_config"}, gone="")}


@pytest.mark.parametrize("kind", [PROMPT, TEXT, THINKING, NOTICE])
def test_words_show_no_file(kind: str) -> None:
    assert seen(step(kind, "see parse_config in src/a.py")) == {}


def test_a_command_and_its_output_show_no_file() -> None:
    assert called("Bash", command="  pytest tests/test_a.py -k test_parse\n", description="run it") == {}
    assert answered("src/a.py: parse_config, #12", "Bash", command="make") == {}


@pytest.mark.parametrize(
    "command",
    [
        "cat src/a.py",
        "sed -n '1,80p' src/a.py",
        "cd /home/ada/shop && nl -ba src/a.py | sed -n 7,9p",
        "head -50 src/a.py 2>/dev/null",
    ],
)
def test_a_command_that_prints_one_file_shows_its_identifiers(command: str) -> None:
    found = answered("7  def parse_config():", "Bash", command=command)
    assert found == {"src/a.py": Sighting("src/a.py", SEEN, {"parse_config"}, is_used=True)}


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py b.py",
        "nl a.mdx && nl b.py",
        "cat Makefile b.py",
        "sed -i s/a/b/ a.py",
        "cat a.py; make",
        "python a.py",
        "cat (",
    ],
)
def test_a_command_that_prints_anything_else_shows_none(command: str) -> None:
    assert answered("7  def parse_config():", "Bash", command=command) == {}


def test_a_command_that_searches_shows_the_files_that_it_found() -> None:
    found = answered("src/a.py:7:def parse_config():", "Bash", command="rg -n parse src | head -5")
    assert found["src/a.py"].words == {"parse_config"}
    assert answered("src/a.py:7:parse_config", "Bash", command="rg -n parse", is_error=True) == {}
    elsewhere = answered("a.py:7:def parse_config():", "Bash", command="rg -n parse", workdir="/tmp/other")
    assert elsewhere["/tmp/other/a.py"].words == {"parse_config"}


@pytest.mark.parametrize(
    ("error", "gone"), [("File does not exist: old_name", ["not found"]), ("File content exceeds maximum", [])]
)
def test_a_read_that_failed_shows_whether_there_is_a_file(error: str, gone: list[str]) -> None:
    found = answered(error, "Read", file_path=f"{ROOT}/a.py", is_error=True)
    assert list(found.values()) == [Sighting("a.py", SEEN, gone=what) for what in gone]


@pytest.mark.parametrize(
    ("command", "states"),
    [
        ("rm -f a.py b.py && make", {"a.py": "deleted", "b.py": "deleted"}),
        (f"mv a.py {ROOT}/lib/a.py", {"a.py": "moved to lib/a.py", "lib/a.py": ""}),
        ("mv a.py b.py; mv b.py a.py", {"a.py": "", "b.py": "moved to a.py"}),
        ("cd src && git mv -k a.py b.py lib", {"src/a.py": "moved to lib", "src/b.py": "moved to lib", "src/lib": ""}),
        ("git rm a.py", {"a.py": "deleted"}),
        ("git rm --cached a.py", {}),
        ("grep 'rm a.py' x && echo mv a.py b.py", {}),
        ("rm " + "$(" * 30, {}),
    ],
)
def test_a_command_that_removes_or_moves_files_shows_what_became_of_them(command: str, states: dict[str, str]) -> None:
    assert {path: found.gone for path, found in answered("", "Bash", command=command).items()} == states
    assert answered("No such file or directory", "Bash", command=command, is_error=True) == {}


def test_of_a_long_text_the_beginning_is_looked_at_up_to_a_whole_word() -> None:
    found = answered("my_first " * 10_000 + "my_last", "Read", file_path=f"{ROOT}/a.py")
    assert found["a.py"].words == {"my_first"}


def test_a_refused_edit_takes_its_new_names_away_again() -> None:
    found = answered("refused", "Edit", file_path=f"{ROOT}/a.py", old_string="my_a", new_string="my_b", is_error=True)
    assert found == {"a.py": Sighting("a.py", SEEN, lost={"my_b"})}


def test_a_search_shows_the_files_with_the_identifiers_in_their_lines() -> None:
    lines = [f"{ROOT}/src/a.py:3:def parse_config():", "src/b.py:parse_all()", "--", "src/b.py-4- x: y", "a.md:9:my_a"]
    found = answered("\n".join(lines), "Grep", pattern="parse")
    assert {name: sighting.words for name, sighting in found.items()} == {
        "src/a.py": {"parse_config"},
        "src/b.py": {"parse_all"},
        "a.md": {"my_a"},
    }


def test_paths_of_windows_are_named_as_the_repository_names_them() -> None:
    edited = called("Edit", WINDOWS, file_path=f"{WINDOWS}\\src\\a.py", new_string="x")
    found = answered(
        f"src\\a.py:3:parse_all()\r\n{WINDOWS}\\src\\b.py:4:parse_me()\r\n", "Grep", WINDOWS, pattern="parse"
    )
    assert set(edited) == {"src/a.py"}
    assert set(found) == {"src/a.py", "src/b.py"}


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
        assert len(sighting.path) <= 1_000
        assert len(sighting.words) <= 2_000
