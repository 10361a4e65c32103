"""What words mean, as far as a comparison needs it: which say the same, the contrary, or another thing of one kind.

What is in no table is compared as it is written.
"""

from __future__ import annotations

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


def meaning(word: str) -> str:
    """The key by which a word in small letters is compared: the stem of the commonest word that means the same."""
    found = _SAME.get(word)
    if found is None:
        key = stem(word)
        found = _SAME.get(key, key)
    return found


def _same(table: str) -> dict[str, str]:
    groups = map(str.split, table.strip().splitlines())
    return {form: stem(group[0]) for group in groups for word in group for form in (word, stem(word))}


# The same in other words, a meaning a line. First the verbs that say little by themselves.
_WEAK_VERBS = """
use using used uses adopt choose chose chosen choosing pick picked employ utilize utilise leverage select rely
use apply go touch contact
keep kept retain preserve stay stays remain maintain continue hold
store save persist stash
run execute launch invoke
set define specify put place
allow permit permitted
happen occur take
serve provide offer
live reside lie located
work operate function
"""
_USUAL_VERBS = """
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
begin start
move migrate switch transition
write written wrote writing writes
handle process
pass hand
require need
deploy deployment deployed release
"""
_THINGS = """
async asynchronous asynchronously
sync synchronous synchronously
end finish complete
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
nodejs node
golang go
every each
approval approve sign-off signoff
review reviewed reviewing
timeout timeouts
second seconds
limit limited cap
"""
_SAME = {**_same(_THINGS), **_same(_USUAL_VERBS), **_same(_WEAK_VERBS)}
WEAK = set(_same(_WEAK_VERBS).values())

# Other verbs with which an instruction begins.
_VERBS = """
abort adopt answer archive ask assign assume batch begin block bump bundle cache call cap catch close compile compress
copy create deny deploy describe disable document drain drop enable encrypt escalate expect export expose extract
favor favour format freeze grant group handle hash hide ignore import index inline lint listen lock log mail mask
measure merge migrate minify mirror mock monitor name notify pad page parse pin prefer prefix print publish queue
raise rebase redact release reload rename render replace report reserve reset restart retry return reuse review revoke
rotate round scale seed send ship show sign skip sort split squash strip stub support sync tag target test throttle
throw track treat trim upgrade validate wait wrap
"""
VERBS = {meaning(word) for word in _VERBS.split()} | WEAK | set(_same(_USUAL_VERBS).values())
_COMPOUNDS = """
shutdown timeout startup setup cleanup login logout rollback rollout fallback backup lookup checkout filename callback
teardown username codebase
"""
COMPOUNDS = frozenset(_COMPOUNDS.split())  # which many write in two words

# Words of which a statement says the contrary when one stands for the other.
_CONTRARY = """
enable/disable allow/deny allow/block allow/refuse permit/deny accept/reject accept/refuse approve/reject
include/exclude add/remove keep/remove keep/discard keep/replace keep/abandon increase/decrease increase/reduce
increase/lower raise/lower raise/reduce grow/shrink above/below big/small large/small large/tiny long/short
longer/shorter early/late earlier/later fast/slow faster/slower old/new older/newer oldest/newest start/stop begin/end
open/close lock/unlock show/hide encrypt/decrypt encrypted/plaintext encrypted/unencrypted encrypted/plain
public/private internal/external input/output sync/async synchronous/asynchronous synchronously/asynchronously
blocking/nonblocking strict/lenient strict/loose strict/relaxed strict/lax mutable/immutable ascending/descending
upper/lower uppercase/lowercase left/right top/bottom inner/outer parent/child upgrade/downgrade up/down on/off
true/false yes/no pass/fail succeed/fail success/failure safe/unsafe valid/invalid secure/insecure stable/unstable
manual/automatic manually/automatically eager/lazy eagerly/lazily static/dynamic local/remote online/offline
commit/rollback merge/split import/export push/pull upload/download read/write readonly/writable client/server
frontend/backend sender/receiver source/target source/destination signed/unsigned positive/negative full/empty
full/partial complete/incomplete single/multiple one/many shared/separate shared/isolated permanent/temporary
persistent/ephemeral persistent/transient stateful/stateless visible/hidden inside/outside parallel/sequential
parallel/serial parallel/sequentially concurrent/sequential horizontal/vertical whitelist/blacklist allowlist/denylist
high/low higher/lower compressed/uncompressed cached/uncached relative/absolute explicit/implicit
explicitly/implicitly same/different loud/silent verbose/quiet authenticated/anonymous authenticated/unauthenticated
singular/plural odd/even opt-in/opt-out foreground/background metric/imperial newer/older stdout/stderr
"""
CONTRARY: dict[str, set[str]] = {}
for _pair in _CONTRARY.split():
    _one, _other = map(meaning, _pair.split("/"))
    CONTRARY.setdefault(_one, set()).add(_other)
    CONTRARY.setdefault(_other, set()).add(_one)

# Things of one kind, as they are written: one for another is another statement.
_KINDS = """
monday tuesday wednesday thursday friday saturday sunday weekday weekend
january february march april may june july august september october november december
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
