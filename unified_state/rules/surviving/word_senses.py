"""What words do in a statement, as far as a comparison needs it: which turn it round, bind it, limit it, say the same.

Words are as `stem` leaves them; phrases of several words are in `PHRASES`. English first; of other languages only what
turns a statement round or binds it.
"""

from __future__ import annotations

NOT = "not"
MUST, SHOULD, MAY = "must", "should", "may"
ONLY, ALL, SOME, EXCEPT, UNTIL, AT_LEAST, AT_MOST = "only", "all", "some", "except", "until", "at least", "at most"
BEFORE, OVER = "before", "over"  # the left side comes first, or is preferred
AFTER, UNDER = "after", "under"  # the right side does
STALE_MARK = "stale"

_SUFFIXES = (
    ("ations", 3), ("ation", 3), ("ating", 3), ("ated", 3), ("ates", 3), ("ators", 3), ("ator", 3), ("ate", 3),
    ("ions", 3), ("ion", 3), ("ings", 3), ("ing", 3), ("ments", 3), ("ment", 3), ("ed", 3), ("es", 3), ("ly", 4),
    ("s", 3), ("e", 3),
)  # fmt: skip
_VOWELS = frozenset("aeiouy")


def stem(word: str) -> str:
    """A word without its ending, so that `storing`, `stored` and `stores` are one. Only for comparing."""
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004  # `ties`
        return word[:-3] + "y"
    if word.endswith("ss") or not word.isascii():
        return word
    for suffix, least in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= least:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in _VOWELS and word[-1] not in "ls":  # noqa: PLR2004
        word = word[:-1]
    return word


def _table(text: str) -> dict[str, str]:
    """Each word of a line, as a stem, under the first of its line."""
    groups = (line.split() for line in text.strip().splitlines())
    return {stem(word): stem(group[0]) for group in groups for word in group}


# The same thing in other words: each line is one meaning.
SYNONYMS = _table("""
use using used uses adopt choose chose chosen chosing pick employ utilize utilise leverage select rely
keep kept retain preserve stay stays remain maintain unchanged
store save persist storing
remove delete drop erase removal deletion strip
run execute launch invoke
add introduce insert append include
make create build generate construct produce
change modify alter edit
fix repair resolve
check verify validate ensure
show display print
send transmit
get fetch retrieve
call invoke
start begin
stop end halt
move migrate switch transition
write written wrote writing
read reading
put place
database databases db dbs
directory directories folder folders dir
repository repositories repo repos
config configuration configurations settings setting
documentation docs
function functions func
method methods
test tests testing suite
error errors failure failures
endpoint endpoints route
dependency dependencies deps
library libraries package packages
authentication auth
authorization authz
production prod
development dev
environment environments env
variable variables var
administrator admin
application app
parameter param argument
maximum max
minimum min
number count amount
big large
fast quick rapid
format formatting
ticket issue
customer client
commit commits committed committing
password passwords passphrase
identifier id ids
message messages msg
user users
every each
javascript js
typescript ts
python py
postgresql postgres psql pg
kubernetes k8s
mongodb mongo
elasticsearch elastic
nodejs node
golang go
""")

# Opposites: a statement with the other one says the contrary.
_OPPOSITES = """
enable disable
enabled disabled
allow forbid
allow deny
allow disallow
allow prohibit
allow block
allow ban
permit forbid
permit deny
permit prohibit
accept reject
accept refuse
approve reject
include exclude
add remove
keep remove
keep discard
keep replace
increase decrease
increase reduce
increase lower
raise lower
grow shrink
more less
more fewer
higher lower
high low
above below
big small
long short
longer shorter
first last
early late
earlier later
fast slow
old new
older newer
oldest newest
start stop
open close
open closed
lock unlock
show hide
encrypt decrypt
encrypted plaintext
encrypted unencrypted
public private
internal external
input output
sync async
synchronous asynchronous
blocking nonblocking
strict lenient
strict loose
strict relaxed
mutable immutable
optional mandatory
optional required
required forbidden
ascending descending
upper lower
uppercase lowercase
left right
top bottom
inner outer
parent child
upgrade downgrade
up down
on off
true false
yes no
pass fail
succeed fail
succeeds fails
safe unsafe
valid invalid
secure insecure
stable unstable
manual automatic
manually automatically
eager lazy
static dynamic
local remote
online offline
commit rollback
merge split
merge rebase
import export
push pull
upload download
read write
read-only writable
client server
frontend backend
sender receiver
source target
source destination
signed unsigned
positive negative
full empty
full partial
complete incomplete
cached uncached
compressed uncompressed
compress decompress
single multiple
shared separate
shared isolated
permanent temporary
global local
reversible irreversible
persistent ephemeral
persistent transient
stateful stateless
broken fixed
draft final
major minor
visible hidden
inside outside
within outside
together separately
parallel sequential
parallel serial
concurrent sequential
horizontal vertical
inline external
whitelist blacklist
allowlist denylist
"""
OPPOSITES: dict[str, set[str]] = {}
for _line in _OPPOSITES.strip().splitlines():
    _one, _other = (SYNONYMS.get(stem(_word), stem(_word)) for _word in _line.split())
    OPPOSITES.setdefault(_one, set()).add(_other)
    OPPOSITES.setdefault(_other, set()).add(_one)
