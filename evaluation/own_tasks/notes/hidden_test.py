from notes.tags import tags


def test_numbers_are_issues_but_years_are_tags():
    assert tags("see #4711 and #2026") == ["2026"]


def test_tags_are_lower_case_and_each_once_in_order():
    assert tags("#Work #home #work") == ["work", "home"]


def test_a_dash_belongs_to_a_tag():
    assert tags("(#to-do)") == ["to-do"]
