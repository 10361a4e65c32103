"""Words of the English forms: what begins a rule or a decision, what stands inside of one, and what speaks against."""

from __future__ import annotations

# Words before a clause that do not change what it binds.
OPENERS = (
    "please ", "pls ", "plz ", "kindly ", "ok ", "okay ", "also ", "and ", "but ", "so ", "just ", "again ", "then ",
    "oh ", "hey ", "btw ", "by the way ", "yes ", "yeah ", "alright ", "fine ", "well ", "because ", "bc ", "since ",
    "important ", "critical ", "mandatory ", "note ", "rule ", "reminder ", "one more thing ", "in addition ",
    "additionally ", "to ", "could you please ", "can you please ", "could you ", "can you ", "would you please ",
    "would you ", "you can ", "instead ", "that ", "make sure that ", "make sure to ", "make sure ", "be sure to ",
    "ensure that ", "ensure ", "remember to ", "i'd ask you to ", "i would ask you to ", "i would kindly ask you to ",
    "i need you to ", "whatever you do ", "here ", "in general ", "generally ", "as a rule ", "as a general rule ",
    "in this project ", "in this repo ", "in this codebase ", "when possible ", "if possible ", "in this pr ",
    "for this pr ", "in this commit ", "for this task ", "in this branch ", "on this branch ",
    "it would be great if you ", "it would be nice if you ", "i'd appreciate it if you ", "i'd like you to ",
    "i would like you to ", "i want you to ", "i expect you to ", "we'd like you to ",
    "for the rest of this session ",
)  # fmt: skip
# What limits a request to this moment, so that it is no rule.
FOR_NOW = (
    ", i'm ", ", i'll ", ", i still ", ", i want to ", ", it isn't ", ", it's not ", " i've seen ", "unrelated",
    " yet", "for now", "right now", "for the moment", "this time", "this one", "that one", "not now", "so far",
    "today", "let me know", "let's see", "tell me when", "tell me if", "until monday", "until tuesday",
    "until tomorrow", "as a reference", "as expected", "for a moment", "expected:", "fix that",
)  # fmt: skip
LASTING = {
    "project", "repo", "repository", "codebase", "service", "app", "package", "module", "team", "customer", "client",
    "pr", "branch", "task", "ticket", "change", "commit", "feature", "assignment", "release", "course",
}  # fmt: skip
MANNERS = {
    "validate", "sign", "pin", "mask", "wrap", "squash", "escape", "quote", "annotate", "prefix", "separate", "pick",
    "preserve", "start", "group", "name", "cite", "summarize", "summarise", "redact", "prioritize", "prioritise",
    "capitalize", "spell", "document", "favor", "favour", "minimize", "minimise", "reuse", "mirror", "respect",
}  # fmt: skip
DOING = {"getting", "seeing", "having", "missing", "talking", "discussing", "looking", "trying", "still", "losing"}
NO_CUSTOMS = {
    "have", "see", "need", "get", "want", "think", "know", "did", "were", "are", "should", "could", "can", "lost",
    "found", "had", "saw", "will", "would", "might", "was", "hit", "made", "got", "must", "may", "don't", "do",
    "just", "also", "already", "now", "recently", "previously", "still", "can't", "cannot", "haven't", "didn't",
    "should've", "shall", "then", "really", "probably", "guess", "believe", "hope", "like", "love", "noticed",
    "moved", "broke", "ran", "go", "take", "stay", "cut", "run", "book", "close", "drop", "switch", "skip", "look",
    "wrote", "went", "came", "read",
}  # fmt: skip
FOR_A_KIND = (" use ", " prefer ", " we use ", " per ", " take our ")
PURPOSES = (" for ", " when ", " in ", " with ", " over ", " to ", " where ", " everywhere", " unless ", " as ")
STATES = {
    "back", "bad", "big", "broken", "done", "down", "empty", "fine", "flaky", "gone", "good", "great", "green", "huge",
    "missing", "nice", "off", "ok", "okay", "ready", "really", "red", "slow", "so", "there", "too", "very", "wrong",
}  # fmt: skip
UNDECIDED = {
    "ask", "be", "come", "discuss", "find", "fix", "get", "have", "know", "look", "need", "probably", "see", "talk",
    "try",
}  # fmt: skip
ONCE = ("this one", "that one", "this time", "for this call", "let me know", "let's see")
REQUESTS = ("can you ", "could you ", "can we ", "would you ")
ANSWERING = (
    "never mind", "never say never", "no hay ", "no need", "no worries", "no problem", "always nice", "always good",
)  # fmt: skip
# Ends of "don't …" and "never …" that concern one thing at hand: "don't rename it".
AT_HAND = ("it", "that", "this", "them", "these", "those", "him", "her")
NO_PROHIBITIONS = {
    "bad", "be", "bother", "care", "forget", "get", "have", "hesitate", "it", "know", "let", "like", "look", "mind",
    "need", "panic", "really", "see", "seem", "sure", "they", "think", "understand", "wait", "want", "we", "worry",
    "you",
}  # fmt: skip
NO_NOUNS = {
    "problem", "problems", "idea", "need", "rush", "worries", "thanks", "luck", "difference", "change", "wait",
    "matter", "way", "doubt", "it", "i", "we", "you", "the", "this", "that", "he", "she", "they", "not", "don't",
    "never", "stop", "use", "keep", "leave", "revert", "undo", "ignore", "remove", "let's", "please", "just", "sorry",
    "one", "errors", "longer", "my", "your", "our", "make", "put", "go", "do", "clue", "such", "chance", "hurry",
    "thats", "that's", "it's", "alerts", "response", "warning", "warnings", "output", "terminal", "traceback", "",
}  # fmt: skip
ONLY_VERBS = {
    "touch", "use", "change", "edit", "modify", "work", "write", "read", "commit", "push", "import", "depend", "cut",
    "add", "files", "code", "the", "tests", "changes", "i", "ever", "in", "from",
}  # fmt: skip
ARTICLES = {"the", "a", "an", "this", "that", "these", "those", "it", "my", "your", "his", "her", "more", "less"}
# Beginnings of a clause that give a rule.
BEGINNINGS = (
    "always ", "from now on", "from here on", "going forward", "in future ", "in the future ", "every time you ",
    "whenever you ", "whenever we ", "under no circumstances", "as a rule ", "unless i ", "avoid ", "prefer ",
    "refrain from ", "stay out of ", "stay away from ", "hands off ", "stick to ", "stick with ", "follow ", "treat ",
    "respect ", "favour ", "favor ", "ask me ", "ask before ", "ask first", "ask the user ", "ask instead ",
    "check with me", "wait for my ", "warn me ", "tell me before ", "nothing ", "nobody ", "no one ", "forbidden",
    "it is forbidden", "is forbidden", "i prefer ", "we prefer ", "i don't want ", "we don't want ", "i don't like ",
    "i really don't like ", "i hate ", "i'd rather ", "i would rather ", "i'd prefer ", "i never want ",
    "i always want ", "i insist ", "we never ", "we always ", "we only ", "we use ", "we follow ", "we support ",
    "we still support ", "we keep ", "we write ", "we stick ", "we squash ", "we rebase ", "we avoid ", "we target ",
    "we are not ", "we're not ", "we must ", "we can only ", "we can't ", "we cannot ", "we no longer ",
    "we require ", "you must ", "you may not ", "you may only ", "you should never ", "you should always ",
    "you should not ", "you are not allowed", "you can only ", "you cannot ", "you can't ", "you only ",
    "you don't need to ask ", "you have to ", "you should only ", "my rule ", "it's important ", "it is important ",
    "it is essential ", "it's essential ", "it is crucial ", "it is vital ", "there must be no ",
    "there should be no ", "there may be no ", "i want no ", "we want no ", "minimise ", "minimize ", "limit ",
    "guard ", "backwards compatibility ", "don't ever ", "do not ever ", "only ever ", "remember ", "remember: ",
    "keep in mind ", "keep in mind: ", "you never ", "you always ", "answer in ", "answer me in ", "reply in ",
    "respond in ", "run it by me", "our policy ", "our convention ", "our rule ", "the rule is ", "the convention ",
    "by convention ", "i can't stand ", "you shouldn't ", "you mustn't ", "we have a rule", "be brief", "be concise",
    "be careful with ", "we're on ", "tests first", "talk to me before", "write in english", "be careful not to ",
    "we may not ", "we may only ", "stdlib ",
)  # fmt: skip
# Words inside of a clause that give a rule.
INSIDE = (
    " from now on", " going forward", " at all times", " no matter what", " whatever happens", " without asking",
    " without my ", " without a review", " before you ", " before every ", " before each ", " before any ",
    " before i ", " after every ", " after each ", " before committing", " before pushing", " before opening ",
    " before merging", " before commits", " before prs", " unless i ", " unless you ", " unless absolutely ",
    " off limits", " off-limits", " hands off ", " not allowed", " is forbidden", " are forbidden", " prohibited",
    " not negotiable", " is mandatory", " are mandatory", " is required", " are required", " required for ",
    " requires a ", " require a ", " require tests", " must not ", " must never ", " must always ", " must be ",
    " must stay ", " must remain ", " must include ", " must start ", " must use ", " must go ", " must pass",
    " must follow ", " may not ", " may only ", " may never ", " should never ", " should always ", " should only ",
    " should ask ", " you must ", " you only ", " we must ", " must have ", " exclusively", " in every ",
    " for every ", " everywhere", " with every ", " is mine", " maintained by another", " needs my approval",
    " read-only ", " untouched", " alone", " as errors", " nothing else", " is frozen", " are frozen", " has to be ",
    " have to be ", " has to ask", " have to ask", " needs to be ", " need to be ", " never ever ", " default to ",
    " must to ", " instead of guessing", " use always ", " not use ", " please not ", " is to be ", " are to be ",
    " not to be ", " hates ", " forbids ", " insists ", " we not use ", " in english", " in german", " in french",
    " in spanish", " ask me before ", " ask me first", " check with me ", " not permitted", " a no-go", " is taboo",
    " mustn't ", " matters more than ", " not an option", " reserved for ", " on your own", " by yourself",
    " has to stay ", " have to stay ", " i do it myself", " nobody edits ", " nobody touches ", " is immutable",
    " are immutable", " must come ", " my approval", " minimum supported ", " oldest supported ", "not to change",
    "not to touch", "not to rename",
)  # fmt: skip
LIMITS = (" under ", " below ", " at most ", " maximum", " max ", " no more than ", " above ", " or less")
ENDS = (
    " only", " always", ", always", " by default", " off limits", " alone", " as is", " as it is", " as they are",
    " as-is", " as it was", " without exception", " by hand", " please always", " not me",
)  # fmt: skip
PEOPLE = (
    "i ", "it ", "he ", "she ", "they ", "this ", "that ", "there ", "something ", "maybe ", "why ", "i'm ",
    "you're ", "customer",
)  # fmt: skip
MODALS = (" should ", " shall ", " must ", " have to ", " has to ", " needs to ", " need to ")
WHOLE = ("every ", "each ", "any ", "all ", "no ", "new ", "public ", "only ", "everything ", "anything ")
PLURAL_VERBS = {
    "keep", "match", "apply", "load", "carry", "live", "go", "goes", "stay", "stays", "remain", "remains", "default",
    "belong", "get", "follow", "come", "comes", "describe", "use", "are", "must", "should", "mirror", "need",
}  # fmt: skip
WISHES = (
    "i want ", "i'd like ", "i would like ", "i'd appreciate ", "i have to ", "we want ", "we'd like ",
    "we would like ", "i do want ", "i need ", "i expect ", "we expect ", "in reviews i expect ",
)  # fmt: skip
FAILING = {
    "fail", "fails", "break", "breaks", "crash", "crashes", "return", "returns", "hang", "hangs", "time", "get",
}  # fmt: skip
BY_RULE = (", not ", " only", " by ", " in ", " for ", " from ", " always", " never")
TOPICS = ("commit messages:", "commits:", "tests:", "comments:", "naming:", "style:", "branches:", "names:")
ACTS = {
    "summarize", "redact", "cite", "inspect", "group", "retry", "prefer", "preserve", "review", "fail", "clean",
    "add", "annotate", "answer", "apply", "ask", "avoid", "build", "bump", "call", "check", "choose", "commit",
    "copy", "create", "define", "delete", "deploy", "describe", "document", "drop", "edit", "explain", "export",
    "follow", "format", "give", "handle", "import", "include", "install", "keep", "leave", "let", "lint", "log",
    "mark", "mask", "mention", "move", "name", "note", "open", "pin", "prefix", "push", "put", "place", "read",
    "rebase", "record", "refer", "regenerate", "remove", "rename", "reply", "report", "respond", "restart", "return",
    "run", "save", "send", "separate", "set", "show", "sign", "squash", "start", "stop", "talk", "tell", "test",
    "treat", "update", "use", "validate", "verify", "wait", "wrap", "write",
}  # fmt: skip
QUESTIONS = (
    "why ", "what ", "how ", "is ", "are ", "does ", "do we ", "do you ", "do i ", "do the ", "did ", "where ",
    "which ", "who ", "will ", "has ", "have you ", "explain why ", "tell me how ", "find out ", "check why ",
    "check whether ", "look ", "i wonder", "i'm wondering", "not sure", "i don't know", "i don't understand",
    "i guess", "i think ", "maybe ", "could be", "while this ", "while it ", "while that ", "currently ", "although ",
    "previously ", "it seems", "i found ", "i see ", "i noticed ", "looks like ", "people keep ", "i never see ",
    "describe ", "show ", "list ", "steps to ",
)  # fmt: skip
CHOOSING = (
    "let's go with ", "let's use ", "let's stick with ", "let's stay with ", "let's settle ", "let's keep ",
    "let's take ", "let's make it ", "let's leave ", "let's cut ", "let's switch ", "let's move to ", "i'd say we ",
    "i say we ", "it was agreed", "we book ", "we cut ", "we drop ", "we switch ", "we skip ", "let's call it ",
    "let's do ", "let's drop ", "lets go with ", "lets use ", "lets do ", "lets stick ", "lets keep ", "we go with ",
    "we're going with ", "we are going with ", "we stay with ", "we take ", "we close ", "we run it ", "we're using ",
    "we decided", "we have decided", "we've decided", "we agreed", "we have agreed", "we've agreed", "we settled",
    "we've settled", "we chose", "we picked", "we opted", "i decided", "i have decided", "i've decided", "i chose",
    "i picked", "going with ", "the plan is", "the source of truth", "decision:", "decided:", "for the queue we ",
)  # fmt: skip
CHOSEN = (
    " it is", " has decided", " have decided", " we decided", " we have decided", " we use ", " we'll use ",
    " then we do ",
)  # fmt: skip
NOT_CHOOSING = {"see", "first", "not", "it", "that", "this", "look", "both", "the", "a"}
NO_PLURALS = {
    "steps", "shows", "fails", "works", "looks", "seems", "needs", "does", "gets", "wants", "means", "says", "runs",
    "conversions", "expected", "these", "those", "us", "as", "this", "is", "was", "has", "whereas", "its", "it's",
    "yes", "thus", "unless", "plus", "things", "perhaps", "sometimes", "always", "there's", "that's", "what's",
    "let's", "lets", "guess",
}  # fmt: skip
NOT_NAMED = (
    "fix ", "let's ", "lets ", "we'll ", "no", "go ", "try ", "make ", "take ", "look", "move ", "ok", "hm",
)  # fmt: skip
TASK = (
    "in this pr", "for this pr", "in this pull request", "in this commit", "for this commit", "in this branch",
    "on this branch", "for this branch", "for this task", "in this task", "for this ticket", "for this change",
    "for this feature", "rest of this session", "in this session", "this session", "rest of the day", "until the ",
    "until we ", "until it is ", "while we ", "as long as we ", "for this assignment",
)  # fmt: skip
