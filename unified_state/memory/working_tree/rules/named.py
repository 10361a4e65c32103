"""What a text names of a working tree: commands in code spans, and versions of dependencies.

Precision is preferred to recall: `make sure` in prose is no command, and `3.11` without a name no version.
"""

from __future__ import annotations

from collections.abc import Iterator

_LONGEST_SPAN, _MOST_SPANS = 200, 8  # characters; code spans of one text
_MOST_VERSIONS = 8
_LONGEST_NAME = 80
_AROUND = "`'\"()[]{}<>,;:!?*"
_BESIDE_WORDS = f"{_AROUND}.-"
_JOINTS = ("==", "@")  # between a name and its version, without a space
# A text with one of these words may name what is not there on purpose: it was removed, or is still to be made.
_CHANGE_WORDS = """
remove removed removes removing delete deleted deletes deleting drop dropped drops rename renamed renames renaming
replace replaced replaces replacing migrate migrated move moved moves moving instead former formerly old legacy
deprecated obsolete gone retire retired revert reverted never not no don't without avoid stop stopped cannot
add added adds adding create created creates creating introduce introduced introduces write new will todo implement
build plan planned future later upgrade upgraded downgrade downgraded bump bumped generated missing unused dead split
extract extracted merge merged inline inlined
"""
_CHANGES = frozenset(_CHANGE_WORDS.split())
# A text with one of these words states which versions are allowed, not which one is used.
_RANGE_WORDS = """
must require requires required requirement requirements need needs support supports supported supporting least most
minimum minimal maximum min max newer newest later latest older oldest earlier earliest above below onward onwards
compatible compatibility since from until through between works work working runs-on up
"""
_RANGES = frozenset(_RANGE_WORDS.split())
_RANGE_SIGNS = ("<", ">", "~", "^", "≥", "≤")
_FIRST_CJK = 0x2E80  # the texts behind it have no word of the list


def is_about_change(text: str) -> bool:
    """Return whether a text says that something is removed, replaced, forbidden or still to be made."""
    lowered = text.lower().replace("\u2019", "'")
    if not lowered.isascii() and any(ord(character) >= _FIRST_CJK for character in lowered):
        return True
    words = lowered.split()
    return not _CHANGES.isdisjoint(words) or any(word.strip(_BESIDE_WORDS) in _CHANGES for word in words)


def is_about_range(text: str) -> bool:
    """Return whether a text may state a minimum or a range of versions: `at least 5.0`, `must run on`, `>=5.0`."""
    if any(sign in text for sign in _RANGE_SIGNS) or _has_open_version(text):
        return True
    return any(word.strip(_BESIDE_WORDS) in _RANGES for word in text.lower().replace("/", " ").split())


def _has_open_version(text: str) -> bool:
    """Return whether a version ends in a sign for all later ones or all parts of it: `5.0+`, `5.x`, `5.*`."""
    words = (word.strip(_BESIDE_WORDS.replace("*", "")) for word in text.split())
    return any(word[:1].isdigit() and word.endswith(("+", ".x", ".*")) for word in words)


def code_spans(text: str) -> Iterator[str]:
    """Yield the code spans of a text: what is between backticks, without line ends in it."""
    parts = text.split("`")
    for span in parts[1 : 2 * _MOST_SPANS : 2]:
        if span and "\n" not in span and len(span) <= _LONGEST_SPAN:
            yield span


def commands_in(text: str) -> list[str]:
    """Return the code spans of a text that consist of more than one word."""
    return [span for span in code_spans(text) if len(span.split()) > 1] if "`" in text else []


def versions_in(text: str) -> dict[str, str]:
    """Return the versions that a text states, by the name before each: `redis 5.0.1`, `redis==5.0.1`, `redis@5.0.1`.

    A version has two numbers or more. A name with two different versions is left out. A text about
    a minimum or a range states none.
    """
    if is_about_range(text):
        return {}
    found: dict[str, str] = {}
    twice: set[str] = set()
    before = ""
    for word in text.split():
        bare = word.strip(_AROUND).rstrip(f".{_AROUND}")
        name, version = _joined(bare) if any(joint in bare for joint in _JOINTS) else (before, bare.removeprefix("v"))
        is_stated = bool(name) and is_version(version) and len(found) < _MOST_VERSIONS
        if is_stated and found.setdefault(name, version) != version:
            twice.add(name)
        before = bare.lower() if _is_name(bare) and bare == word.lstrip("`'\"(*").rstrip("`'\")*") else ""
    return {name: version for name, version in found.items() if name not in twice}


def is_version(text: str) -> bool:
    """Return whether a text is a version of two to four numbers: `5.0.1`."""
    numbers = text.split(".")
    return 2 <= len(numbers) <= 4 and all(number.isdigit() and number.isascii() for number in numbers)  # noqa: PLR2004


def is_same_version(one: str, other: str) -> bool:
    """Return whether two versions are equal as far as both are given: `5.0` and `5.0.1`."""
    return all(left == right for left, right in zip(one.split("."), other.split("."), strict=False))


def _joined(word: str) -> tuple[str, str]:
    joint = next(joint for joint in _JOINTS if joint in word)
    name, _, version = word.rpartition(joint)
    return (name.lower() if _is_name(name) else "", version)


def _is_name(word: str) -> bool:
    """Return whether a word can be the name of a package or a program."""
    if not 1 < len(word) <= _LONGEST_NAME or not word.isascii() or not word.strip("@")[:1].isalpha():
        return False
    return all(character.isalnum() or character in "-_./@" for character in word)
