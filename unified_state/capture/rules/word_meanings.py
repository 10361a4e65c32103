"""Meanings of words for a comparison: synonyms, contraries, and the senses of small words.

The tables have common words, mostly English. For other languages they have the words that negate or bind. A word
outside the tables is compared as written.
"""

from __future__ import annotations

BREAK = "break"  # ends a clause
NOT, MUST, SHOULD, CAN, MAY, ALL, SOME, ONLY = "not", "must", "should", "can", "may", "all", "some", "only"
LIMIT, AT_LEAST, AT_MOST = "if", "at-least", "at-most"
BEFORE, AFTER = "before", "after"  # the later of two things
OVER, FROM, TO, BY, PREFER = "over", "from", "to", "by", "prefer"  # mark the rejected one of two things
LIGHT = "light"  # without meaning of its own


def _senses(table: str) -> dict[str, str]:
    """Return the sense of each word of a table `sense: words;`. In a phrase `_` represents a space."""
    senses: dict[str, str] = {}
    for group in table.split(";"):
        sense, _, words = group.partition(":")
        for word in words.split():
            senses.setdefault(word.replace("_", " "), sense.strip())
    return senses


SENSE_OF = _senses("""
not: not no never none nothing nobody neither without cannot avoid forbid forbidden prohibit prohibited ban banned
disallow disallowed refrain prevent non against lack skip no_longer free_of nicht kein keine keinen nie niemals ohne
verboten pas jamais sans aucun aucune interdit nunca sin jamás não nem niet geen zonder inte aldrig utan ikke не нет
нельзя никогда без;
must: must shall required require requires mandatory obligatory always has_to have_to had_to need_to needs_to muss
müssen immer doit doivent toujours obligatoire debe deben siempre deve devem sempre moet altijd должен должны нужно;
should: should recommended recommend recommends preferably ideally soll sollte devrait debería;
may: may might could optional optionally perhaps maybe possibly consider considering considered tentatively
if_possible where_possible nice_to_have if_needed when_possible not_required not_mandatory need_not not_necessary
free_to kann können peut puede pode kan может можно;
can: can able allowed capable;
all: all every each everywhere everyone any;
some: some several few sometimes partly certain;
only: only solely exclusively limited_to restricted_to nur seulement uniquement solo solamente somente alleen только;
if: except unless excluding until till if except_for other_than apart_from aside_from but_not for_now as_long_as außer
sauf excepto exceto кроме bis hasta até;
at-least: exceeding minimum min ≥ >= > at_least no_less_than no_fewer_than or_more or_higher or_newer or_later
or_above more_than greater_than larger_than longer_than and_up and_newer and_above mindestens;
at-most: maximum max ≤ <= < at_most no_more_than not_more_than up_to or_less or_fewer or_lower or_older or_below
less_than fewer_than smaller_than shorter_than not_exceed höchstens;
before: before precedes preceding then prior_to ahead_of vor avant antes перед;
after: after follows following nach après después depois после;
prefer: prefer prefers preferred;
over: over outranks replaces supersedes instead_of rather_than in_place_of as_opposed_to takes_precedence_over
in_preference_to statt anstatt вместо;
from: from;
to: to into;
by: by with;
break: and but because so since while although though und aber weil et mais y pero и но nor;
light: a an the this that these those it its they them their there here we our us you your i he she his her one is are
was were be been being am has have had having do does did doing done will would get gets got of in on at for as onto
via or also too both just per through about within which what who whom whose where when how why than such like very
more most much many still under now current currently already yet again please make makes sure new based ca wo let
lets need needs der die das den dem des ein eine einen einem einer oder für mit von zu im am auf ist sind wird werden
le la les un une des du de ou pour avec dans est sont sur par ne n el los las o para con en es son por;
""")
LONGEST_PHRASE = 4  # words
CJK_SENSES = _senses("""
must: なければならない なければなりません 必须 必須 務必 务必 一定 必ず 반드시 해야;
not: してはならない してはいけない ではない しない ません ない 禁止 なし 不要 不得 不能 不可 不会 不允许
不应 不再 不 没有 没 勿 别 未 无 無 않 금지 없;
may: 可以 可能 可选 任意 かもしれない でもよい 선택;
only: 只 仅 のみ だけ;
at-least: 至少 以上 少なくとも 최소;
at-most: 至多 最多 以下 以内 최대;
over: 而不是 而非 代わりに;
before: 之前 以前 の前;
after: 之后 以后 の後;
""")  # longer phrases before their parts

_UNITS = """
time .001 ms msec millisecond milliseconds 毫秒 ミリ秒; time 1 s sec secs second seconds 秒 초;
time 60 min mins minute minutes 分钟 分 분 minuten; time 3600 h hr hrs hour hours 小时 時間 시간 stunden;
time 86400 d day days 天 日 일 tage; time 604800 week weeks; month 1 month months; month 12 year years;
size 1 byte bytes; size 1024 kb kib kilobyte kilobytes; size 1048576 mb mib megabyte megabytes;
size 1073741824 gb gib gigabyte gigabytes; part 1 % percent pct; pixel 1 px pixel pixels
"""
UNITS = {
    unit: (dimension, float(factor))
    for dimension, factor, *units in map(str.split, _UNITS.split(";"))
    for unit in units
}
_NUMERALS = """
zero=0 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 twelve=12 fifteen=15 twenty=20 thirty=30
sixty=60 ninety=90 once=1 twice=2
"""
NUMERALS = dict(numeral.split("=") for numeral in _NUMERALS.split())

_SUFFIXES = ("ations", "ation", "ating", "ated", "ates", "ators", "ator", "ate", "ions", "ion", "ings", "ing", "ments",
             "ment", "ed", "es", "ly", "s", "e")  # fmt: skip
_SHORTEST_STEM = 3


def _stem(word: str) -> str:
    """Return a word without its ending: `storing`, `stored` and `stores` are equal."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    for suffix in _SUFFIXES if not word.endswith("ss") else ():
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            word = word[: -len(suffix)]
            break
    is_doubled = len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "aeioulsz"
    return word[:-1] if is_doubled else word


def _same(table: str) -> dict[str, str]:
    """Map each word of a table, and its stem, to the stem of the first word of its group."""
    groups = map(str.split, table.split(";"))
    return {form: _stem(group[0]) for group in groups for word in group for form in (word, _stem(word))}


# Groups of synonyms. The verbs of the first table have little weight.
_WEAK = _same("""
use used using adopt choose chose chosen pick employ utilize leverage select rely apply go touch contact; keep kept
retain preserve stay remain maintain continue hold; store save persist; run execute launch invoke; set define specify
put place; allow permit; happen occur take; serve provide offer; live reside lie located; work operate function
""")
_USUAL = _same("""
async asynchronous asynchronously; sync synchronous synchronously; end finish complete; database db dbs; directory
folder dir; repository repo; config configuration settings; documentation docs; test tests testing suite; failure
fail; error exception; endpoint route; dependency deps; library package; authentication auth login; environment env;
variable var; application app; parameter param argument arg; number count amount; rapid fast quick; ticket issue;
commit committed committing; identifier id ids; message msg; javascript js; typescript ts; python py; postgresql
postgres pg; kubernetes k8s; approval approve; review reviewing; limit limited cap; every each; remove delete drop
erase removal deletion; add introduce insert append; create build generate construct produce; change modify alter
edit; fix repair; check verify validate ensure; display show shown; fetch retrieve load; send sent; leave left; lose
lost; find found; break broke broken; bind bound; take took taken; give gave given; freeze froze frozen; hide hidden;
speak spoke spoken; pay paid; tell told; begin start; move migrate switch transition; write written wrote; handle
process; require need; deploy deployment release
""")
_SAME = {**_USUAL, **_WEAK}
WEAK = set(_WEAK.values())


_MOST_KNOWN = 20_000


class _Meanings(dict):  # type: ignore[type-arg]  # typing is not loaded here
    """A cache of the keys of words. It is emptied when it is full."""

    def __missing__(self, word: str) -> str:
        if len(self) > _MOST_KNOWN:
            self.clear()
        stem = _stem(word)
        self[word] = found = _SAME.get(word) or _SAME.get(stem, stem)
        return found


_known = _Meanings()


def meaning(word: str) -> str:
    """Return the comparison key of a lower-case word: the stem of the commonest word with the same meaning."""
    found: str = _known[word]
    return found


# Pairs of contraries, in addition to words with a negating prefix.
_CONTRARY = """
enable/disable allow/deny allow/block allow/refuse permit/deny accept/reject accept/refuse approve/reject
include/exclude add/remove keep/remove keep/discard keep/replace keep/abandon increase/decrease increase/reduce
raise/lower start/stop open/close lock/unlock show/hide encrypt/decrypt encrypted/plaintext encrypted/plain
public/private strict/lenient upgrade/downgrade up/down on/off opt-in/opt-out pass/fail automatic/manual
online/offline client/server frontend/backend read/write import/export above/below newer/older long/short
foreground/background single/multiple shared/separate
"""
_CONTRARIES = {frozenset(map(meaning, pair.split("/"))) for pair in _CONTRARY.split()}
_PREFIXES = frozenset(("un", "in", "im", "ir", "dis", "de", "non", "a"))


def is_contrary(one: str, other: str) -> bool:
    """Return whether two words, given by their keys, are contraries."""
    short, long = (one, other) if len(one) < len(other) else (other, one)
    if long[: len(long) - len(short)] in _PREFIXES and long.endswith(short):
        return True
    return frozenset((one, other)) in _CONTRARIES


WHOLE = {word for pair in _CONTRARY.split() for word in pair.split("/") if "-" in word}
# Other verbs at the beginning of an instruction.
_VERBS = """
abort answer archive ask assign assume batch block bump bundle cache call catch close compile compress copy deny
describe disable document drain enable encrypt escalate expect export expose extract favor favour format group hash
ignore import index inline lint listen lock log mail mask measure merge minify mirror mock monitor name notify pad
page parse pin prefer prefix print publish queue raise rebase redact reload rename render replace report reserve reset
restart retry return reuse revoke rotate round scale seed ship sign skip sort split squash strip stub support tag
target throttle throw track treat trim upgrade wait wrap
"""
VERBS = {meaning(word) for word in _VERBS.split()}.union(_SAME.values())
_COMPOUNDS = """
shutdown timeout startup setup cleanup login logout rollback rollout fallback backup lookup checkout filename codebase
"""
COMPOUNDS = frozenset(_COMPOUNDS.split())  # often written as two words
