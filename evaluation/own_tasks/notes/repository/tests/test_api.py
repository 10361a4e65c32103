from notes.api import find


def test_a_tag_finds_its_note():
    assert find(["buy milk #home", "call #work"], "home") == ["buy milk #home"]
