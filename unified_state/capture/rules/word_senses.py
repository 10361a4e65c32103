"""What small words do in a statement: which turn it round, bind it, limit it, or say what comes first.

English first; of other languages only what turns a statement round or binds it.
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
    AT_LEAST: "exceeding minimum min ≥ >= > mindestens",
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
        "than|greater than|larger than|bigger than|longer than|not below|and up|and newer|and above",
        AT_MOST: "at most|no more than|not more than|up to|or less|or fewer|or lower|or older|or below|less than|fewer "
        "than|lower than|smaller than|shorter than|not above|not exceed|no longer than|a maximum of|not over",
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
        (
            NOT,
            "してはならない してはいけない ではない しない ません ない 禁止 なし 不要 不得 不能 不可 不会 不允许 不应",
        ),
        (NOT, "不再 不 没有 没 勿 别 未 无 無 않 금지 없 마십시오"),
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
