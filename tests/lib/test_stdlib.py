"""JSON and SQLite, on the interpreter's C halves and on the public modules: both must do the same."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib import stdlib as interpreter

ROOT = Path(__file__).parents[2]
Dialect = tuple[Callable[[str], Any], Callable[[Any], str], Callable[[Any], str]]
DIALECTS: dict[str, Dialect] = {"accelerated": interpreter._accelerated(), "public": interpreter._public()}

characters = st.characters() | st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF)
# A pair of surrogates is one character: JSON's escapes do not tell them apart.
texts = st.text(characters).map(lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return DIALECTS[request.param]


@pytest.mark.parametrize("name", DIALECTS)
@given(value=json_values)
def test_what_is_written_is_read_again(name: str, value: object) -> None:
    parse, dump, dump_ascii = DIALECTS[name]
    assert parse(dump(value)) == value
    assert parse(dump_ascii(value)) == value


@given(json_values)
def test_both_write_the_same(value: object) -> None:
    (_, dump, dump_ascii), (_, other_dump, other_dump_ascii) = DIALECTS.values()
    assert dump(value) == other_dump(value)
    assert dump_ascii(value) == other_dump_ascii(value)


@given(json_values, st.sampled_from([None, 1, "\t"]), st.text(" \t\r\n", max_size=3))
def test_both_read_what_json_writes_in_any_layout(value: object, indent: int | str | None, blank: str) -> None:
    text = blank + json.dumps(value, indent=indent) + blank
    assert [parse(text) for parse, _, _ in DIALECTS.values()] == [value, value]


@given(st.text('{}[]:,"\\ntruefalse0123456789.eE+-NaIy \n\x00é\ud83d', max_size=12) | st.text())
def test_both_take_and_refuse_the_same(text: str) -> None:
    (parse, _, _), (other_parse, _, _) = DIALECTS.values()
    assert repr(attempt(parse, text)) == repr(attempt(other_parse, text))


def attempt(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return ValueError


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_json_does_not_have_are_written_as_null(dialect: Dialect, number: str) -> None:
    parse, dump, dump_ascii = dialect
    value = parse(f'{{"a":[1.5,{number}]}}')
    assert [dump(value), dump_ascii(value)] == ['{"a":[1.5,null]}'] * 2
    assert [dump(float(number)), dump_ascii([float(number)])] == ["null", "[null]"]


@pytest.mark.parametrize("text", ["", " ", "{", "[1,", "nul", '{"a":1} x', "{'a':1}", '{"a" 1}', '"\\x"'])
def test_what_is_no_json_is_a_value_error(dialect: Dialect, text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        dialect[0](text)


def test_nesting_without_end_is_an_error_that_can_be_caught(dialect: Dialect) -> None:
    with pytest.raises(RecursionError):
        dialect[0]("[" * 100_000)


def test_raw_control_characters_are_read(dialect: Dialect) -> None:
    assert dialect[0]('"a\nb\x00"') == "a\nb\x00"


def test_what_has_no_json_form_is_refused(dialect: Dialect) -> None:
    for dump in dialect[1:]:
        with pytest.raises(TypeError):
            dump(object())


def test_json_is_compact_and_keeps_the_order(dialect: Dialect) -> None:
    assert dialect[1]({"b": [1, 2], "a": "é"}) == '{"b":[1,2],"a":"é"}'
    assert dialect[2]({"b": [1, 2], "a": "é"}) == '{"b":[1,2],"a":"\\u00e9"}'


def fresh_interpreter_module() -> types.ModuleType:
    """The module, executed anew in the surroundings of the moment."""
    spec = importlib.util.spec_from_file_location("fresh_interpreter", interpreter.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_the_json_accelerator_the_public_module_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    fresh = fresh_interpreter_module()
    assert fresh.parse_json.__module__ == "json.decoder"
    assert fresh.parse_json(fresh.dump_json({"a": "é"})) == {"a": "é"}


def test_an_accelerator_that_takes_other_arguments_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = types.ModuleType("_json")
    vars(changed).update(encode_basestring=str, encode_basestring_ascii=str, make_encoder=dict, make_scanner=int)
    monkeypatch.setitem(sys.modules, "_json", changed)
    assert fresh_interpreter_module().parse_json.__module__ == "json.decoder"


def test_an_accelerator_that_works_otherwise_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = types.ModuleType("_json")
    vars(changed).update(
        encode_basestring=str,
        encode_basestring_ascii=str,
        make_encoder=lambda *_: lambda *_: ["1"],
        make_scanner=lambda _: lambda *_: (1, 1),
    )
    monkeypatch.setitem(sys.modules, "_json", changed)
    assert fresh_interpreter_module().parse_json.__module__ == "json.decoder"


def test_without_the_c_module_of_sqlite_the_public_module_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_sqlite3", types.ModuleType("_sqlite3"))
    fresh = fresh_interpreter_module()
    assert fresh.connect is sqlite3.connect
    assert fresh.sqlite_version_info == sqlite3.sqlite_version_info


def test_sqlite_is_the_same_either_way() -> None:
    assert interpreter.Connection is sqlite3.Connection
    assert interpreter.DatabaseError is sqlite3.DatabaseError
    assert interpreter.sqlite_version_info == sqlite3.sqlite_version_info


BARE = [sys.executable, "-I", "-S", "-c"]
CONNECTS = f"""
import sys
sys.path.append({str(ROOT)!r})
from unified_state.lib.stdlib import connect
connection = connect(":memory:", cached_statements=2)
print([connection.execute(f"SELECT {{number % 3}}").fetchone()[0] for number in range(6)])
print("functools" in sys.modules, "collections" in sys.modules)
"""


def test_sqlite_does_not_load_functools() -> None:
    done = subprocess.run([*BARE, CONNECTS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[0, 1, 2, 0, 1, 2]", "False False"]


def test_functools_is_whole_after_sqlite_was_loaded_without_it() -> None:
    code = (
        CONNECTS
        + "import functools, sqlite3\nprint(functools.__file__.endswith('functools.py'), sqlite3.connect is connect)"
    )
    done = subprocess.run([*BARE, code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True True"


def test_a_python_without_the_c_half_of_the_cache_loads_functools() -> None:
    code = "import sys\nsys.modules['_functools'] = None\n" + CONNECTS
    done = subprocess.run([*BARE, code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[0, 1, 2, 0, 1, 2]", "True True"]


def test_a_python_without_sqlite_can_import_all_and_opens_nothing(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["_sqlite3"] = sys.modules["sqlite3"] = None  # as in a build without them
from unified_state import UnifiedStateManager
from unified_state.lib import stdlib as interpreter
from unified_state.errors import ArchiveUnavailableError
from unified_state.memory.archive.archive import Archive
assert not interpreter.has_sqlite()
try:
    Archive(sys.argv[1])
except ArchiveUnavailableError as error:
    print(error.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "archive.db")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "this Python has no SQLite\n"
    assert list(tmp_path.iterdir()) == []
    assert interpreter.has_sqlite()
