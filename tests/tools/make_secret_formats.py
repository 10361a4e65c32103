"""Write the second part of `unified_state/secrets/formats.txt`, the forms of tokens, from rules of gitleaks
(`gitleaks/rules.toml`).

A rule becomes a row where its secret is a fixed prefix followed by characters: the row says which, at least and at most
how many. What lies between the prefix and the end, such as a dot in a fixed place, counts as one of the characters.
Rows of the first part are written by hand, and wider, so a prefix that one of them covers is left out.
"""

from __future__ import annotations

import sys
import tomllib
from itertools import product
from pathlib import Path

from unified_state.secrets.rules import secret_values
from unified_state.secrets.rules.secret_tokens import read_formats

PATH = Path(__file__).parents[2] / "unified_state" / "secrets" / "formats.txt"
RULES = Path(__file__).parent / "gitleaks" / "rules.toml"

Atom = tuple[frozenset[str], int, int]  # one of these characters, at least and at most so often

_LONGEST = 1000  # stands for "any number"
_LAST_LINE_BY_HAND = "# tests/tools/gitleaks/. tests/tools/make_secret_formats.py writes all below this line."
_SHORTEST = 3  # of a prefix
_FEW = 4  # a class of so few characters may be a part of a prefix: xox[ar]-
_WORD = frozenset(map(chr, secret_values.NAME)) - {"-"}
_DIGITS = frozenset(map(chr, secret_values.DIGITS))
_ENDS = (r"""(?:[\x60'"\s;]|\\[nr]|$)""", r"""(?:[\x60'"\s;]|\\[nr]|$|\b)""", r"(?:[^\w-]|\z)", r"\b")
_NAMED_SETS = ("BASE64", "DOTS", "NAME", "ALNUM", "HEX", "UPPER", "LOWER", "DIGITS")

# What our masks called these before the list was used.
_KINDS = {
    "aws-access-token": "aws-key-id",
    "databricks-api-token": "databricks-token",
    "digitalocean-access-token": "digitalocean-token",
    "digitalocean-pat": "digitalocean-token",
    "digitalocean-refresh-token": "digitalocean-token",
    "gcp-api-key": "google-key",
    "gitlab-rrt": "gitlab-token",
    "npm-access-token": "npm-token",
    "planetscale-api-token": "planetscale-token",
    "planetscale-oauth-token": "planetscale-token",
    "planetscale-password": "planetscale-token",
    "postman-api-token": "postman-key",
    "pulumi-api-token": "pulumi-token",
    "rubygems-api-token": "rubygems-key",
    "sendgrid-api-token": "sendgrid-key",
    "shopify-access-token": "shopify-token",
    "shopify-custom-access-token": "shopify-token",
    "shopify-private-app-access-token": "shopify-token",
    "shopify-shared-secret": "shopify-token",
}
# Prefixes that stand at the beginning of much that is no token, and why they are left out.
_LEFT_OUT = {
    "EAAA": "base64 of what begins with three zero bytes; the tokens of Square that begin so have a row of their own",
    "_gitlab_session=": "a cookie, found by its name",
}


def table_text() -> str:
    """The file as it is checked in."""
    rows: dict[tuple[str, str, int, int], list[str]] = {}
    for rule in tomllib.loads(RULES.read_text(encoding="utf-8"))["rules"]:
        for prefix, characters, least, most in forms(rule["regex"]):
            if prefix not in _LEFT_OUT and not _is_covered(prefix):
                key = (_KINDS.get(rule["id"], rule["id"]), _set_text(characters), least, most)
                rows.setdefault(key, []).append(prefix)
    lines = [
        f"{kind} {known} {least} {most} {' '.join(dict.fromkeys(prefixes))}"
        for (kind, known, least, most), prefixes in sorted(rows.items())
    ]
    return "\n".join([_by_hand() + _LAST_LINE_BY_HAND, *lines, ""])


def _by_hand() -> str:
    """The part of the file before the generated one."""
    return PATH.read_text(encoding="utf-8").partition(_LAST_LINE_BY_HAND)[0]


def unused_rules() -> list[str]:
    """The rules that give no row and are covered by none."""
    known = {prefix.decode() for _, prefixes, *_ in read_formats() for prefix in prefixes} | set(_LEFT_OUT)
    rules = tomllib.loads(RULES.read_text(encoding="utf-8"))["rules"]
    return [rule["id"] for rule in rules if not all(form[0].startswith(tuple(known)) for form in forms(rule["regex"]))]


def _is_covered(prefix: str) -> bool:
    rows = [line.split() for line in _by_hand().splitlines() if line and not line.startswith("#")]
    return prefix.startswith(tuple(own for _kind, _set, _least, _most, *prefixes in rows for own in prefixes))


def _set_text(characters: frozenset[str]) -> str:
    """The expression for a set of characters: known sets, and what else there is."""
    parts, left = [], set(characters)
    for name in _NAMED_SETS:
        known = set(map(chr, getattr(secret_values, name)))
        if known <= characters and known & left == known:
            parts.append(name)
            left -= known
    rest = "".join(sorted(left))
    return ",".join([*parts, *([rest] if rest else [])])


def forms(regex: str) -> list[tuple[str, frozenset[str], int, int]]:
    """Each prefix that a rule names, with the characters behind it, at least and at most how many."""
    for end in _ENDS:
        regex = regex.replace(end, "")
    ignores_case = "(?i)" in regex
    regex = regex.replace("(?i)", "").replace("(?i:", "(?:").replace("(?-i:", "(?:")
    opening = next((at for at in range(len(regex)) if regex[at] == "(" and regex[at - 1 : at] != "\\"
                    and regex[at + 1] != "?"), None)  # fmt: skip
    alternatives, _ = _alternatives(regex, 0 if opening is None else opening + 1, ignores_case=ignores_case)
    return [form for atoms in alternatives for form in _forms_of(atoms)]


def _forms_of(atoms: list[Atom]) -> list[tuple[str, frozenset[str], int, int]]:
    fixed = 0
    while fixed < len(atoms) and len(atoms[fixed][0]) <= _FEW and atoms[fixed][1:] == (1, 1):
        fixed += 1
    if fixed < _SHORTEST:  # too short to be looked up: the first characters of the body belong to it
        (characters, least, most), more = atoms[fixed], atoms[fixed + 1 :]
        rest = (characters, least - 1, most - 1)
        longer = ([*atoms[:fixed], (frozenset(one), 1, 1), rest, *more] for one in sorted(characters))
        return [form for atoms in longer for form in _forms_of(atoms)]
    body = atoms[fixed:]
    characters = frozenset[str]().union(*(characters for characters, *_ in body))
    least, most = sum(least for _, least, _ in body), sum(most for *_, most in body)
    prefixes = map("".join, product(*(sorted(characters) for characters, *_ in atoms[:fixed])))
    return [(prefix, characters, least, min(most, _LONGEST)) for prefix in prefixes]


def _alternatives(regex: str, at: int, *, ignores_case: bool) -> tuple[list[list[Atom]], int]:
    """What stands at `at` up to the end of its group, as sequences one of which must fit, and where that end is."""
    done: list[list[Atom]] = []
    current: list[list[Atom]] = [[]]
    while at < len(regex) and regex[at] != ")":
        if regex[at] == "|":
            done, current, at = done + current, [[]], at + 1
            continue
        if regex[at] == "(":
            inner, at = _alternatives(regex, at + (3 if regex[at + 1] == "?" else 1), ignores_case=ignores_case)
            at += 1
        else:
            characters, at = _characters(regex, at, ignores_case=ignores_case)
            inner = [[(characters, 1, 1)]]
        least, most, at = _times(regex, at)
        current = [[*before, *_repeated(atoms, least, most)] for before in current for atoms in inner]
    return done + current, at


def _repeated(atoms: list[Atom], least: int, most: int) -> list[Atom]:
    if least == most:
        times = range(least) if len(atoms) > 1 else range(1)
        factor = 1 if len(atoms) > 1 else least
        return [(characters, low * factor, high * factor) for _ in times for characters, low, high in atoms]
    return [(characters, low * least, high * most) for characters, low, high in atoms]


def _times(regex: str, at: int) -> tuple[int, int, int]:
    mark = regex[at : at + 1]
    if mark == "{":
        end = regex.index("}", at)
        least, comma, most = regex[at + 1 : end].partition(",")
        return int(least), int(most) if most else (_LONGEST if comma else int(least)), end + 1
    simple = {"?": (0, 1), "*": (0, _LONGEST), "+": (1, _LONGEST)}
    return (*simple[mark], at + 1) if mark in simple else (1, 1, at)


def _characters(regex: str, at: int, *, ignores_case: bool) -> tuple[frozenset[str], int]:
    if regex[at] == "[":
        end = regex.index("]", at + 1)
        found, inside = set[str](), at + 1
        while inside < end:
            one, inside = _one(regex, inside)
            if regex[inside] == "-" and inside + 1 < end and len(one) == 1:
                last, inside = _one(regex, inside + 1)
                one = frozenset(map(chr, range(ord(min(one)), ord(min(last)) + 1)))
            found |= one
        if ignores_case and len(found) > _FEW:
            found |= {case for one in found for case in (one.lower(), one.upper())}
        return frozenset(found), end + 1
    return _one(regex, at)


def _one(regex: str, at: int) -> tuple[frozenset[str], int]:
    if regex[at] == "\\":
        return {"w": _WORD, "d": _DIGITS}.get(regex[at + 1], frozenset(regex[at + 1])), at + 2
    return frozenset(regex[at]), at + 1


def main() -> None:
    """Write the file."""
    PATH.write_text(table_text(), encoding="utf-8")
    sys.stdout.write(f"{PATH}\n")


if __name__ == "__main__":
    main()
