"""What words do in a statement, as far as a comparison needs it: which turn it round, bind it or limit it, which mean
the same, the contrary, or another thing of one kind.

English first; of other languages only what turns a statement round or binds it. What is in no table is compared as it
is written.
"""

from __future__ import annotations

NOT, LIGHT, STALE = "not", "light", "stale"
MUST, SHOULD, CAN, MAY = "must", "should", "can", "may"
ONLY, ALL, SOME, EXCEPT, UNTIL, IF, AT_LEAST, AT_MOST = (
    "only", "all", "some", "except", "until", "if", "at least", "at most"
)  # fmt: skip
FIRST, LAST = "first", "last"  # the left side comes before the right one; or after it
OVER, FROM, TO, BY = "over", "from", "to", "by"  # which of two things is given up
AND = "and"  # a new clause
_WORDS = {
    NOT: """
        not no never none nothing nobody neither without cannot avoid avoids avoided avoiding forbid forbids
        forbidden forbidding prohibit prohibits prohibited ban bans banned disallow disallows disallowed refrain prevent
        prevents prevented non against nowhere lack lacks lacking skip skips skipped
        nicht kein keine keinen keiner keinem nie niemals ohne verboten pas jamais sans aucun aucune interdit nunca sin
        jamás ningún não sem nunca niet geen nooit zonder inte aldrig utan ikke bez не нет нельзя никогда без нет
    """,
    MUST: """
        must shall required require requires mandatory obligatory always
        muss müssen immer pflicht doit doivent toujours obligatoire debe deben siempre deve devem sempre moet altijd
        должен должны нужно всегда
    """,
    SHOULD: "should recommended recommend recommends prefer preferred preferably ideally soll sollte devrait debería",
    MAY: """
        may might could optional optionally perhaps maybe possibly consider considering considered tentatively
        kann können optionale peut puede pode kan может можно
    """,
    CAN: "can able allowed capable",
    ONLY: "only solely exclusively sole nur seulement uniquement solo solamente somente apenas alleen только",
    ALL: "all every each everywhere everyone any",
    SOME: "some several few sometimes partly partially selected certain",
    EXCEPT: "except unless excluding außer sauf excepto exceto кроме",
    UNTIL: "until till bis jusqu'à hasta até до",
    IF: "if",
    AT_LEAST: "minimum min ≥ >= > mindestens",
    AT_MOST: "maximum max ≤ <= < under within höchstens",
    FIRST: "before precedes preceding vor avant antes перед",
    LAST: "after follows following nach après después depois после",
    OVER: "over outranks replaces supersedes statt anstatt вместо",
    FROM: "from",
    TO: "to into",
    BY: "by with",
    AND: "and but because so since while although though und aber weil et mais y pero и но nor",
    LIGHT: """
        a an the this that these those it its they them their there here we our us you your i he she his her one
        is are was were be been being am has have had having do does did doing done will would get gets got
        of in on at for as onto via or then also too both just per through about within
        which what who whom whose where when how why than such like very more most much many still
        now current currently already yet again please make makes sure new based ca wo let lets need needs
        der die das den dem des ein eine einen einem einer oder für mit von zu im am auf ist sind wird werden
        le la les un une des du de ou pour avec dans est sont sur par ne n el los las o para con en es son por
        o os as um uma e com em do da het een en voor met van op
    """,
    STALE: """
        superseded formerly previously obsolete outdated originally initially abandoned dropped reverted rejected
        deprecated revoked withdrawn cancelled canceled lifted earlier instead replaced discarded retired undone
    """,
}
SENSES = {word: sense for sense, words in reversed(_WORDS.items()) for word in words.split()}
PHRASES = {
    tuple(phrase.split()): sense
    for sense, phrases in {
        AT_LEAST: "at least|no less than|not less than|no fewer than|or more|or higher|or newer|or later|or above|more "
        "than|greater than|not below|and up|and newer|and above",
        AT_MOST: "at most|no more than|not more than|up to|or less|or fewer|or lower|or older|or below|less than|fewer "
        "than|lower than|not above|not exceed|no longer than|a maximum of|not over",
        FIRST: "prior to|ahead of",
        OVER: "instead of|rather than|in place of|as opposed to|takes precedence over|in preference to",
        NOT: "no longer|off limits|out of bounds|not any|free of|do not ever|not ever",
        MUST: "has to|have to|had to|need to|needs to|in all cases",
        MAY: "if possible|where possible|if convenient|nice to have|if needed|when possible|if there is time|not "
        "required|not mandatory|need not|not necessary|if desired|free to|up for discussion|open to",
        EXCEPT: "except for|other than|apart from|aside from|but not|with the exception of",
        ONLY: "limited to|restricted to|confined to|nothing but|no other than",
        UNTIL: "for now|as long as|for the time being",
    }.items()
    for phrase in phrases.split("|")
}
CJK_SENSES = {  # the longer before what they hold
    word: sense
    for sense, words in (
        (MUST, "なければならない なければなりません 必须 必須 务必 一定 必ず 반드시 해야"),
        (NOT, "してはならない してはいけない ではない しない ません ない 禁止 なし 不要 不得 不能 不可 不会 不允许 不应 不再 不 没有 没 勿 别 未 无 無 ない 않 금지 없 마십시오"),
        (MAY, "可以 可能 可选 任意 かもしれない でもよい 선택"),
        (ONLY, "只 仅 のみ だけ 오직"),
        (AT_LEAST, "至少 以上 少なくとも 최소"),
        (AT_MOST, "至多 最多 以下 以内 최대"),
        (OVER, "而不是 而非 代わりに"),
        (FIRST, "之前 以前 の前"),
        (LAST, "之后 以后 の後"),
    )
    for word in words.split()
}
_SUFFIXES = (
    ("ations", 3), ("ation", 3), ("ating", 3), ("ated", 3), ("ates", 3), ("ators", 3), ("ator", 3), ("ate", 3),
    ("ions", 3), ("ion", 3), ("ings", 3), ("ing", 3), ("ments", 3), ("ment", 3), ("ed", 3), ("es", 3), ("ly", 4),
    ("s", 3), ("e", 3),
)  # fmt: skip


def stem(word: str) -> str:
    """A word without its ending, so that `storing`, `stored` and `stores` are one. Only for comparing."""
    if not word.isascii() or word.endswith("ss"):
        return word
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004  # not `ties`
        return word[:-3] + "y"
    for suffix, least in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word[: -len(suffix)]
            break
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeioulsz"  # noqa: PLR2004  # `runn`, not `tell`
    return word[:-1] if doubled else word


# The same in other words, a meaning a line. Verbs of the first lines say little by themselves.
_SAME = """
use using used uses adopt choose chose chosen choosing pick picked employ utilize utilise leverage select rely apply go touch contact
keep kept retain preserve stay stays remain maintain continue hold
store save persist stash held
run execute launch invoke
set define specify put place
allow permit permitted
happen occur take
serve provide offer
live reside lie located
work operate function
remove delete drop erase removal deletion eliminate
add introduce insert append
create build generate construct produce
change modify alter edit changed
fix repair
check verify validate ensure
display print show shown
fetch retrieve load
send sent
leave left
lose lost
find found
break broke broken
bind bound
take took taken
give gave given
freeze froze frozen
hide hidden
speak spoke spoken
pay paid
tell told
read reads
async asynchronous asynchronously
sync synchronous synchronously
begin start
end finish complete
move migrate switch transition
write written wrote writing writes
handle process
pass hand
require need
database databases db dbs
directory directories folder folders dir
repository repositories repo repos
config configuration configurations settings
documentation docs
test tests testing suite
failure failures fail fails failed
error errors exception
endpoint endpoints route
dependency dependencies deps
library libraries package packages
authentication auth login
environment environments env
variable variables var
application app
parameter param argument arg
number count amount
rapid fast quick
format formatting formatted
ticket issue
commit commits committed committing
identifier id ids identifiers
message messages msg
javascript js
typescript ts
python py
postgresql postgres psql pg
kubernetes k8s
mongodb mongo
elasticsearch elastic
nodejs node node.js
golang go
every each
approval approve sign-off signoff
review reviewed reviewing
deploy deployment deployed release
timeout timeouts
second seconds
limit limited cap
"""
SAME = {stem(word): stem(group[0]) for line in _SAME.strip().splitlines() if (group := line.split()) for word in group}
WEAK = {stem(line.split()[0]) for line in _SAME.strip().splitlines()[:10]}

_VERBS = """
abort adopt answer archive ask assign assume batch begin block bump bundle cache call cap catch close compile compress copy
create deny deploy describe disable document drain drop enable encrypt escalate expect export expose extract favor favour
format freeze grant group handle hash hide ignore import index inline lint listen lock log mail mask measure merge
migrate minify mirror mock monitor name notify pad page parse pin prefer prefix print publish queue raise rebase redact
release reload rename render replace report reserve reset restart retry return reuse review revoke rotate round scale
seed send ship show sign skip sort split squash strip stub support sync tag target test throttle throw track treat trim
upgrade validate wait wrap
"""
VERBS = {SAME.get(key, key) for word in _VERBS.split() for key in (stem(word),)} | {
    stem(line.split()[0]) for line in _SAME.strip().splitlines()[:43]
}  # with which an instruction begins
COMPOUNDS = frozenset(
    "shutdown timeout startup setup cleanup login logout rollback rollout fallback backup lookup checkout filename "
    "callback teardown username codebase".split()
)

# Words of which a statement says the contrary when one stands for the other.
_CONTRARY = """
enable/disable allow/deny allow/block allow/refuse permit/deny accept/reject accept/refuse approve/reject include/exclude
add/remove keep/remove keep/discard keep/replace keep/abandon increase/decrease increase/reduce increase/lower raise/lower
raise/reduce grow/shrink above/below big/small large/small large/tiny long/short longer/shorter early/late earlier/later
fast/slow faster/slower old/new older/newer oldest/newest start/stop begin/end open/close lock/unlock show/hide
encrypt/decrypt encrypted/plaintext encrypted/unencrypted encrypted/plain public/private internal/external input/output
sync/async synchronous/asynchronous synchronously/asynchronously blocking/nonblocking strict/lenient strict/loose
strict/relaxed strict/lax mutable/immutable ascending/descending upper/lower uppercase/lowercase left/right top/bottom
inner/outer parent/child upgrade/downgrade up/down on/off true/false yes/no pass/fail succeed/fail success/failure
safe/unsafe valid/invalid secure/insecure stable/unstable manual/automatic manually/automatically eager/lazy
eagerly/lazily static/dynamic local/remote online/offline commit/rollback merge/split import/export push/pull
upload/download read/write readonly/writable client/server frontend/backend sender/receiver source/target
source/destination signed/unsigned positive/negative full/empty full/partial complete/incomplete single/multiple
one/many shared/separate shared/isolated permanent/temporary persistent/ephemeral persistent/transient
stateful/stateless visible/hidden inside/outside parallel/sequential parallel/serial parallel/sequentially
concurrent/sequential horizontal/vertical whitelist/blacklist allowlist/denylist high/low higher/lower
compressed/uncompressed cached/uncached relative/absolute explicit/implicit explicitly/implicitly same/different
loud/silent verbose/quiet authenticated/anonymous authenticated/unauthenticated singular/plural odd/even
"""
CONTRARY: dict[str, set[str]] = {}
for _pair in _CONTRARY.split():
    _one, _other = (SAME.get(stem(_word), stem(_word)) for _word in _pair.split("/"))
    CONTRARY.setdefault(_one, set()).add(_other)
    CONTRARY.setdefault(_other, set()).add(_one)

# Things of one kind, as they are written: one for another is another statement.
_KINDS = """
monday tuesday wednesday thursday friday saturday sunday weekday weekend
january february march april june july august september october november december
hourly daily nightly weekly monthly quarterly yearly annually
production prod staging development dev test local sandbox preview
user admin guest owner maintainer reviewer operator customer
request response
header body query cookie payload
row column table index view
string integer float boolean array
unit integration acceptance
debug info warning error
morning afternoon evening night noon
red green blue yellow orange black white
north south east west
file memory disk network
millisecond second minute hour day week month year
primary secondary replica
json yaml toml xml csv
utc local
"""
KIND: dict[str, set[int]] = {}
for _number, _line in enumerate(_KINDS.strip().splitlines()):
    for _word in _line.split():
        KIND.setdefault(_word, set()).add(_number)
