"""What the archive keeps once the transcript's entry of an output is there."""

from __future__ import annotations

from unified_state.memory.archive.cut_outputs import whole_of

SHORT = "[S7: 9 lines, shown 1; recall S7]\nline 1"


def test_of_a_short_form_the_whole() -> None:
    assert whole_of(SHORT, "line 1\nline 2\n", "S7", len(SHORT)) == "line 1\nline 2\n"


def test_what_the_client_says_beside_it_stands_behind_so_that_lines_keep_their_numbers() -> None:
    seen = f"Found 2 files\n{SHORT}\n\nShell cwd was reset"
    assert whole_of(seen, "a\nb", "S7", len(SHORT)) == "a\nb\n\nShell cwd was reset\n\nFound 2 files"


def test_without_a_handle_what_the_model_read_if_it_holds_the_whole() -> None:
    assert whole_of("a\nb\nmore", "a\nb\n", "S7", 9) == "a\nb\nmore"


def test_another_text_or_another_handle_is_none_of_it() -> None:
    assert whole_of("another", "a\nb", "S7", 9) is None
    assert whole_of("[S77: 9 lines, shown 1]\nx", "a\nb", "S7", 9) is None
