"""Phrases that bind the work in German, French, Spanish, Portuguese, Chinese and Japanese: their commonest forms.

A sentence has one language: the first whose phrases it holds. Each language has beginnings and inner phrases of a rule,
phrases of a decision, and phrases that limit a request to this moment or only tell something.
"""

from __future__ import annotations

from unified_state.capture.rules.rule_forms import DECIDED, RULE
from unified_state.lib.text import is_cjk


class Phrases:
    """The phrases of one language. All are in lower case, and a beginning stands before a space or a comma."""

    def __init__(
        self,
        openers: tuple[str, ...],
        beginnings: tuple[str, ...],
        inside: tuple[str, ...],
        decided: tuple[str, ...],
        others: tuple[str, ...],
    ) -> None:
        self.openers, self.beginnings, self.inside = openers, beginnings, inside
        self.opening = tuple(word.strip() for word in openers)
        self.decided, self.others = decided, others


_GERMAN = Phrases(
    ("bitte ", "und ", "also ", "ok ", "okay ", "nochmal ", "wichtig ", "merke "),
    (
        "nie ", "niemals ", "immer ", "keine ", "kein ", "keinen ", "ab jetzt", "ab sofort", "ab heute",
        "von jetzt an", "künftig", "in zukunft", "frag mich", "frage mich", "nur dateien", "finger weg",
        "auf keinen fall",
        "verwende nur", "verwende immer", "verwende kein", "verwende ausschließlich", "verwende niemals",
        "benutze immer", "benutze nur", "benutze kein", "benutze nie", "nutze immer", "nutze nur", "nutze kein",
        "wir unterstützen nur", "wir verwenden", "wir benutzen", "wir nutzen", "du darfst nur", "du darfst nicht",
        "du sollst", "du musst immer", "vor jedem ", "nach jedem ",
    ),
    (
        " niemals ", " darfst nur ", " darf nur ", " dürfen nur ", " darf nicht", " dürfen nicht", " darf sich nicht",
        " darfst nicht", " nicht anfassen", " nicht von hand", " ohne rücksprache", " ohne zu fragen",
        " auf keinen fall",
        " muss immer ", " müssen immer ", " sind immer ", " ist immer in ", " bleibt unverändert",
        " ausschließlich ", " ist tabu", " sind tabu", " ab sofort ", " ab jetzt ", " nur noch ", " muss ", " müssen ",
    ),
    ("wir nehmen ", "wir haben uns für ", "lass uns ", "nehmen wir ", "wir entscheiden uns", "wir bleiben bei "),
    ("warum ", "wieso ", "kein problem", "keine ahnung", "keine sorge", " schlägt immer", " noch nicht", " erstmal "),
)  # fmt: skip
_FRENCH = Phrases(
    ("s'il te plaît ", "stp ", "merci de ", "et ", "alors ", "ok ", "veuillez "),
    (
        "ne ", "n'", "jamais ", "toujours ", "pas de ", "pas d'", "aucun ", "aucune ", "désormais", "dorénavant",
        "à partir de maintenant", "à l'avenir", "demande-moi avant", "utilise uniquement", "utilise toujours",
        "utilise seulement", "garde l", "seulement ", "tu ne dois ", "tu dois toujours", "il ne faut ",
        "il faut toujours", "il est interdit", "interdit de", "interdiction", "avant chaque ", "évite ",
    ),
    (
        " sans mon accord", " sans me demander", " doivent ", " est interdit", " sont toujours ", " est toujours en ",
        " uniquement des ", " ne doit pas ", " ne doivent ", " on ne touche pas",
    ),
    ("on part sur ", "on va utiliser ", "on prend ", "on garde ", "j'ai décidé", "on a décidé", "nous avons décidé"),
    ("pourquoi ", "pas de problème", "pas de souci", "ne t'inquiète", "n'oublie", " pour l'instant", "pas encore"),
)  # fmt: skip
_SPANISH = Phrases(
    ("por favor ", "y ", "ok ", "vale ", "bueno "),
    (
        "nunca ", "jamás ", "siempre ", "no toques", "no uses", "no usar", "no modifiques", "no cambies", "no edites",
        "no borres", "no hagas", "no agregues", "no añadas", "no debes", "no puedes", "no se puede", "no se debe",
        "nada de ", "sin ", "a partir de ahora", "de ahora en adelante", "en adelante", "pregúntame antes",
        "usa siempre", "usa solo", "utiliza siempre", "solo modifica", "solo puedes", "sólo puedes", "solo usa",
        "está prohibido", "prohibido ", "antes de cada ", "evita ", "debes siempre",
    ),
    (
        " sin preguntarme", " sin mi permiso", " siempre en ", " son siempre ", " está prohibido",
        " deben ", " no se toca",
    ),
    ("vamos a usar ", "vamos con ", "usaremos ", "nos quedamos con ", "hemos decidido", "decidimos ", "he decidido"),
    ("por qué", "¿", "no hay ", "sin problema", "no te preocupes", "por ahora", "todavía", "no pasa nada"),
)  # fmt: skip
_PORTUGUESE = Phrases(
    ("por favor ", "e ", "ok ", "bom "),
    (
        "nunca ", "jamais ", "sempre ", "não use", "não uses", "não mexa", "não mexas", "não altere", "não alteres",
        "não modifique", "não edite", "não faça", "não faças", "não adicione", "não adiciones", "não toque",
        "não apague", "não pode", "sem emojis", "a partir de agora", "de agora em diante", "daqui em diante",
        "me pergunte antes", "pergunta-me antes", "pergunte antes", "use sempre", "usa sempre", "só altere",
        "só podes", "só pode ", "só use", "você não deve", "não deves", "é proibido", "proibido ", "antes de cada ",
        "evite ", "use apenas", "usa apenas",
    ),
    (
        " sem me perguntar", " sem a minha", " sem minha", " são sempre ", " sempre em ", " é proibido", " devem ",
        " não devem ",
    ),
    ("vamos usar ", "vamos com ", "vamos de ", "usaremos ", "decidimos ", "ficamos com ", "decidi "),
    ("por que ", "porque é que", "sem problema", "não se preocupe", "por enquanto", "ainda não"),
)  # fmt: skip
_CHINESE = Phrases(
    ("请", "另外", "还有", "，"),
    (),
    (
        "不要", "禁止", "请勿", "不得", "不准", "不许", "永远", "必须", "始终", "一律", "务必", "只能", "从现在开始",
        "从今以后", "以后", "今后", "之前先问我", "先问我", "不能修改", "不能使用", "不能删除",
        "只允许", "不允许", "千万别", "别动",
    ),
    ("决定用", "决定使用", "就用", "采用", "改用", "我们用"),
    ("为什么", "吗", "？", "暂时", "先不", "这次", "这个先", "总是失败"),
)  # fmt: skip
_JAPANESE = Phrases(
    (),
    (),
    (
        "絶対に", "必ず", "常に", "禁止", "ないでください", "ないこと", "今後", "これから", "してはいけ",
        "だけを変更", "のみ変更", "のみ使用", "だけ使", "てはなりません", "触らない", "使わない",
    ),
    ("ことにしました", "にしましょう", "で行きます", "に決めました", "を採用"),
    ("なぜ", "ですか", "か？", "とりあえず", "今回は", "まだ", "今は"),
)  # fmt: skip
_LATIN = (_GERMAN, _FRENCH, _SPANISH, _PORTUGUESE)
_INFINITIVE_NOT = ("die ", "den ", "das ", "der ", "diese ", "am ", "an ", "im ", "in ")
_FINITE = (" ist ", " sind ", " hat ", " haben ", " kann ", " können ", " will ", " wird ", " werden ", " soll ")
_FIRST_SYLLABLE, _LAST_SYLLABLE = "\u3040", "\u30ff"


def foreign_form_of(sentence: str) -> str:
    """Return what a lower-case sentence in another language than English is: RULE, DECIDED or ""."""
    if not sentence.isascii() and any(map(is_cjk, sentence)):
        is_japanese = any(_FIRST_SYLLABLE <= sign <= _LAST_SYLLABLE for sign in sentence)
        return _form(sentence, _JAPANESE if is_japanese else _CHINESE)
    forms = (_form(sentence, phrases) for phrases in _LATIN)
    return next(filter(None, forms), "") or (RULE if _is_german_prohibition(sentence) else "")


def _form(sentence: str, phrases: Phrases) -> str:
    if any(mark in sentence for mark in phrases.others) or sentence.endswith(("?", "？")):
        return ""
    bare = sentence.strip(" .!。！")
    while bare.startswith(phrases.opening) and (opener := _opener(bare, phrases)):
        bare = bare[len(opener) :].lstrip(" ,:")
    said = f" {bare} "
    if bare.startswith(phrases.decided) or (not phrases.beginnings and any(mark in said for mark in phrases.decided)):
        return DECIDED
    is_rule = bare.startswith(phrases.beginnings) or any(mark in said for mark in phrases.inside)
    return RULE if is_rule else ""


def _opener(bare: str, phrases: Phrases) -> str:
    return next((word for word in phrases.openers if bare.startswith((word, f"{word.strip()},"))), "")


def _is_german_prohibition(sentence: str) -> bool:
    """Return whether a German sentence forbids by an infinitive: "Die Dateien nicht von Hand ändern"."""
    bare = sentence.strip(" .!").removeprefix("bitte ")
    return (
        " nicht " in f" {bare}"
        and bare.endswith("en")
        and (bare.startswith((*_INFINITIVE_NOT, "nicht ")))
        and not any(word in bare for word in _FINITE)
    )
