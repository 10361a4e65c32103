from notes.tags import tags


def test_a_dot_is_no_part_of_a_tag():
    assert tags("read it #later.") == ["later"]
