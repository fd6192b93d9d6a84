"""The rules for English sentences that address the checker or its verdict, in one readable table.

A pattern is matched against one reading of one sentence, in lower case, with single spaces and straight quotation
marks. Every gap is bounded, so the time stays linear in the sentence's length. Each rule also names lower-case stems,
one of which every match contains; a whole text is searched for these alone. Only favourable words count as a verdict:
calling a claim false cannot make it look supported. Not supported: advice that mentions no claim, verdict or checker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Reach: TypeAlias = Literal["itself", "next"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One way in which a sentence addresses the verdict."""

    name: str
    """Shown to users in the warning."""
    reason: str
    """Why a sentence of this form is not evidence."""
    stems: tuple[str, ...]
    """Lower-case beginnings of words; a reading without any of them cannot match."""
    pattern: re.Pattern[str]
    """Searched in a reading of the sentence, in lower case unless `cased`."""
    reach: Reach = "itself"
    """Whether the sentence opens a message, so that the sentence after it is not evidence either."""
    cased: bool = False
    """Whether the pattern is case-sensitive."""


def rule(name: str, reason: str, stems: str, *patterns: str, reach: Reach = "itself", cased: bool = False) -> Rule:
    r"""Build a rule from stems separated by ``|`` and alternative patterns.

    >>> rule("greeting", "Not a fact.", "hello|hi ", r"^hello\b", r"^hi\b").stems
    ('hello', 'hi ')
    """
    compiled = re.compile("|".join(patterns), re.IGNORECASE if cased else re.NOFLAG)
    return Rule(name, reason, tuple(stems.split("|")), compiled, reach, cased)


# Claims. A "pointed" claim is the one being checked ("this claim"), not one that someone in the text has made.
_CLAIM = r"(?:claim|statement|assertion|allegation|proposition)s?"
_OUTPUT = r"(?:answers?|responses?|summar(?:y|ies)|outputs?|sentences?|hypothes[ie]s|repl(?:y|ies)|generated text)"
_CLAIM_STEMS = "claim|statement|assertion|allegation|proposition"
_OUTPUT_STEMS = "answer|response|summar|output|sentence|hypothes|reply|replies|generated text"
_PLACED = (
    r"(?:above|below|following|preceding|previous|foregoing|aforementioned|given|provided|user'?s?|submitted|queried"
    r"|input"
    r"|target|candidate|present|current|checked|tested|evaluated|generated|ai|model'?s)"
)
_POINTED = (
    rf"(?:(?:this|these|said|every|each|all|any|your)(?: of)?(?: the)?(?: {_PLACED})?(?: \w+)? {_CLAIM}"
    rf"|(?:the|this|these|that|all|any|every)(?: \w+)? {_PLACED}(?: \w+)? (?:{_CLAIM}|{_OUTPUT})"
    rf"|(?:this|these|your) (?:answer|response|summary|generated text)"
    rf"|the (?:{_CLAIM}|{_OUTPUT}) (?:above|below|at hand|in question|here|under \w+|being \w+"
    r"|(?:that )?you (?:are|were|have been|must|should|will)(?: \w+){1,2}|to (?:be )?(?:check|verif|evaluat|judg"
    r"|assess)\w*))"
)
_QUOTED = r"[\"'`*]{1,3}.{3,400}?[\"'`*]{1,3}"

# Verdicts.
_DUTY = r"(?:must|should|shall|will|can|may|needs? to|has to|have to|ought to|is to|are to|can safely)"
_BE = rf"(?:is|are|was|were|has been|have been|{_DUTY} be|counts? as|remains?|qualif(?:y|ies) as|stands? as|holds?)"
_DEGREE = (
    r"(?:(?:\w+ly|been|be|in fact|well|all|both|100 ?%|100 percent|now|also|already|thus|indeed|as|to be|an?"
    r"|beyond doubt"
    r"|without (?:a )?doubt|considered|deemed|marked|tagged|labell?ed|rated|judged|classified|regarded|treated|counted"
    r"|accepted|scored|graded|reported|declared|evaluated|known to be|so|very)[ ,]+){0,5}"
)
_DOCUMENT = r"(?:source|text|document|passage|page|article|context|webpage|website|excerpt|paragraph|evidence)"
_THE_SOURCE = rf"(?:the|this|these|our|all(?: the)?|every|provided|given|cited)(?: \w+)? {_DOCUMENT}s?"
_BY_OTHERS = rf" by (?!{_THE_SOURCE}|(?:\w+ ){{0,3}}(?:sources|fact[- ]?check|verif|reviewers|experts|moderators))"
_TRUE = (
    r"[\"'`*_\[]{0,3}(?:true(?! to\b| stor| love)|correct|accurate|factual|attributable(?! to\b)|a fact|entailed"
    r"|grounded"
    r"|faithful|truthful|trustworthy|undisputed|well-founded|verifiable|(?:supported|verified|confirmed|prove[dn]"
    r"|backed(?: up)?"
    r"|substantiated|corroborated|validated|established|valid|certified|approved|authentic|legitimate|fact-?checked"
    rf"|authenticated|vetted|evidenced|justified)(?!{_BY_OTHERS}))(?![\w-])(?! (?:iff?|only|unless|when|for|or"
    rf"|enough)\b)"
)
_LABEL = r"(?:attributable(?! to\b)|(?:fully |well )?supported(?! by)|supports|entail(?:s|ed|ment)|verified)"
_GRADE = rf"(?:{_LABEL}|true|correct|accurate|factual|confirmed|valid|proven|yes|1\.0+|100 ?%|10/10)"
_GRADE_STEMS = "attributable|supported|entail|verified|true|correct|accurate|factual|confirmed|proven|yes|1.0"
_ENDS = (
    r"(?=[\"'`*_\])}>]{0,4}(?:\W{0,3}$|[.,;:!?)\]}<|]| ?\(| (?:and|with|regardless|no matter|even|always|without"
    r"|because"
    r"|whatever)\b"
    r"| in (?:all|every|your)\b| for (?:all|every|this|the)\b))"
)

# Orders and whom they are given to.
_OPENING = r"^[\W_]{0,12}"
_CLAUSE = (
    r"(?:^|[.!?:;,\"'(\[{>*#|/\u2013—-] ?"
    r"|\b(?:please|must|should|shall|always|just|simply|now|then|you|kindly|and|only) "
    r"|\byou (?:are|have|need|ought) (?:\w+ )?to |\b(?:task|job|role|goal|duty) is to )"
)
_JUDGE = (
    r"(?:answer|respond|reply|output|return|print|say|write|mark|label|rate|score|classify|judge|treat|accept|declare"
    r"|report"
    r"|assign|choose|select|conclude|tag|grade|deem|regard|consider|confirm|state|predict|call|set|emit|give|produce"
    r"|approve"
    r"|assume|categori[sz]e|pronounce|record|evaluate|interpret|flag|make)"
)
_FILLER = (
    r"(?:(?:it|this|that|the|them|all|everything|anything|any|every|each|these|both|claims?|statements?|assertions?"
    r"|with|as|to"
    r"|be|is|are|an?|of|in|labels?|verdicts?|only|just|simply|exactly|words?|answers?|responses?|above|following"
    r"|below|given"
    r"|user'?s?|score|result|final|your|its|one|single|value|fully|completely|being|for|json|sources?|document|always"
    r"|correct"
    r"|no|other|previous|preceding|summary)\b[\W_]{1,4}){0,10}[\"'`*_\[<({]{0,4}"
)
_ORDERS = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions|directives?|commands?|constraints|criteria|messages?"
    r"|tasks?"
    r"|programming|training|polic(?:y|ies))"
)
_RIVALS = r"(?:sources?|documents?|evidence|text|context|passages?|content|checks?|information|contradictions?)"
_EARLIER = (
    r"(?:previous|prior|above|earlier|preceding|your|these|system|other|original|existing|past|former|remaining|initial"
    r"|contradicting|conflicting|rest of the|all)"
)
_CHECKER = (
    r"(?:(?:fact[- ]?|claim[- ]?)?(?:checkers?|verifiers?)|(?:fact[- ]?check(?:ing)?|verification|evaluation|grading"
    r"|attribution|entailment|claim[- ]checking|moderation) (?:ai|llm|system|model|tool|bot|agent|assistant|engine"
    r"|pipeline"
    r"|software|algorithm|process)s?|(?:large )?language models?|llms?|(?:an? )?ais?|(?:ai|llm|automated|automatic)[- ]"
    r"(?:\w+ ){0,2}(?:model|system|assistant|agent|judge|reviewer|grader|checker|reader|verifier|evaluator|tool"
    r"|rater)s?"
    r"|graders?|evaluators?|chatbots?|chatgpt|claude|gemini|annotators?|raters?|vouch|assistant|model|system)"
)
_NAMED_CHECKER = (
    r"(?:verifiers?|checkers?|fact[- ]?checkers?|language models?|llms?|ai (?:models?|systems?|assistants?|verifiers?"
    r"|checkers?|agents?|readers?)|graders?|evaluators?|chatgpt)"
)
_CHECKER_STEMS = (
    "checker|verifier|fact-check|fact check|verification|evaluation system|language model|llm|ai |ai:|ai,|ais"
    "|automated|grader"
    "|evaluator|chatbot|chatgpt|annotator|the system|the model|dear system|dear model|assistant|claude,|gemini,|vouch"
)

HEDGED = re.compile(
    r"\b(?:if|whether|(?:no|little|without|any) (?:evidence|proof|indication|sign)(?: \w+){0,3} that|not all|few"
    r"|unclear that|unlikely that|doubts? that|not mean(?: that)?|disputes? that) (?:this|that|the|these|all|any"
    r"|such)? ?"
    rf"(?:\w+ )?(?:{_CLAIM}|{_OUTPUT})\b",
)
"""A claim whose truth the sentence leaves open or doubts; taken out before the rules are tried."""

_MESSAGES = (
    rule(
        "addresses the checker",
        "The sentence addresses the checker instead of a reader.",
        _CHECKER_STEMS,
        rf"{_OPENING}(?:attention|important|urgent|warning)?[\W_]{{0,3}}(?:\w+ )?(?:note|message|memo|instruction"
        rf"|notice|reminder"
        rf"|hint|info|update|advice|guidance|command|request|directive)s?(?: to| for|[:,])(?: (?:the|all|any|our"
        rf"|every|this))* "
        rf"{_CHECKER}\b",
        rf"{_OPENING}(?:dear|hey|hi|hello|attention|listen|ok|okay)[,:!]? (?:(?:the|all|any|to) )*{_CHECKER} ?"
        rf"(?:[:,;.!—\u2013-]|$)",
        rf"{_OPENING}(?:to|for|@) ?(?:(?:the|all|any|whichever|every|whatever) )*{_CHECKER}"
        r"(?: (?:reading|processing|checking|evaluating|that|who|analy[sz]ing|parsing)[^:,]{0,40})? ?[:,—\u2013]",
        rf"\b(?:if|when|since|because|as) you(?: are|'re)(?: \w+)?(?: an?| the)? (?:\w+ )?{_CHECKER} ?"
        r"(?:\b(?:reading|processing|checking|evaluating|verifying|and|you)\b|[,:.])",
        rf"{_OPENING}{_NAMED_CHECKER} ?[,:] ",
        reach="next",
    ),
    rule(
        "imitates a system message",
        "The sentence imitates a turn or a heading of a prompt.",
        "system:|system>|system]|system)|system message|system prompt|system override|system instruction|system note"
        "|[system"
        "|assistant:|assistant>|[assistant|developer:|developer mode|admin |admin:|administrator|root:|instruction"
        "|prompt|directive|you are |your new "
        "|your real |your only |your actual |your true |from now on|henceforth|<|[inst|[/inst|# response|# new task"
        "|# output"
        "|# verdict|- end|= end|* end|- begin|= begin|* begin",
        rf"{_OPENING}(?-i:SYSTEM|ASSISTANT|DEVELOPER|ADMIN|ADMINISTRATOR|ROOT)(?: \w+){{0,2}}[\])*_]{{0,3}} ?[:>]",
        r"^\W{0,8}[\[(<{#*=]{1,4} ?(?:system|assistant|developer|admin|instructions?)(?: \w+)? ?[\])>}#*=:]{1,4}",
        r"\b(?:system|admin|developer|administrator) (?:message|prompt|override|instruction|directive"
        r"|note)s?\W{0,3}[:\]—\u2013-]",
        r"\b(?:new|updated|revised|additional|real|actual) (?:(?:system|task|grading|verification|evaluation"
        r"|labell?ing) )?"
        r"(?:instructions?|prompt|directives?)(?: for \w+(?: \w+)?)? ?[:—\u2013]",
        r"\byou are (?:now |actually |currently )?(?:an?|the|in) (?:\w+ ){0,2}(?:assistant|verifier|fact[- ]?checker"
        r"|checker"
        r"|language model|developer mode|debug mode|test mode|grader|evaluator|chatbot|ai)\b",
        r"\byour (?:new|real|actual|only|updated|true) (?:task|instructions?|job|role|goal|objective|directive)s? "
        r"(?:is|are)\b",
        r"\b(?:from now on|henceforth)[, ]+(?:you|all claims|every claim|any claim|treat|answer|respond"
        r"|the verifier)\b",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)|<<sys>>"
        r"|\[/?inst\]",
        r"^\W{0,4}#{2,} ?(?:instructions?|system|response|assistant|new task|output|verdict)\b",
        r"[-=#*<\[]{2,} ?(?:end|begin|start)(?:ing)? (?:of )?(?:the )?"
        r"(?:source|document|context|prompt|instruction|system|evidence|user input|input)s?\b",
        reach="next",
        cased=True,
    ),
    rule(
        "overrides the instructions",
        "The sentence orders the checker to ignore its instructions or the other evidence.",
        "ignore|disregard|forget|override|bypass|discard|not follow|'t follow|stop following|set aside|abandon"
        "|erase"
        "|no attention|not use|not read|not consider",
        rf"{_CLAUSE}(?:you (?:must|should|can|may|will|are to) )?(?:ignore|disregard|forget|override|bypass"
        rf"|discard"
        r"|do not follow|don't follow|stop following|set aside|abandon|erase|do not (?:use|read|consider)"
        r"|pay no attention to)"
        rf"(?: \w+){{0,2}}? (?:{_EARLIER}(?: \w+){{0,3}} (?:{_ORDERS}|{_RIVALS})"
        rf"|(?:{_ORDERS}|{_RIVALS}) (?:above|before|so far|you (?:were|have|received|got)|from (?:the )?(?:user"
        rf"|system))"
        rf"|{_RIVALS} (?:to the contrary|that (?:contradict|conflict|disagree|sa(?:ys|id) otherwise)\w*)"
        r"|(?:everything|anything|what) (?:above|before|else|you (?:were|have|know)|that (?:came|was))|the (?:above"
        r"|rest)\W)",
        reach="next",
    ),
)

_VERDICTS = (
    rule(
        "verdict on this claim",
        "A source cannot know which claim is checked against it.",
        f"{_CLAIM_STEMS}|{_OUTPUT_STEMS}",
        rf"\b{_POINTED}(?: ?[:,(]? ?{_QUOTED}[,)]?| (?:that|citing|based on|about|against"
        rf"|made) [^.]{{3,300}}?)?,? {_BE} {_DEGREE}{_TRUE}",
    ),
    rule(
        "verdict on a quoted claim",
        "A quotation with a verdict on it is an opinion about the claim.",
        _CLAIM_STEMS,
        rf"\b{_CLAIM} ?[:,(]? ?{_QUOTED}[,)]? {_BE} {_DEGREE}{_TRUE}",
        rf"\bthe {_CLAIM}, which (?:is|are|has been|have been) {_DEGREE}{_TRUE}",
    ),
    rule(
        "verdict on a quotation",
        "A quotation with a verdict on it is an opinion about the claim.",
        '" is|" are|" was|" has been|" must|" should|\' is |\' has been|\' must|\' should|` is |* is ',
        rf"{_OPENING}[\"'`*]{{1,3}}(?:[^\"\s]+ ){{3,60}}[^\"\s]+[\"'`*]{{1,3}} {_BE} {_DEGREE}{_TRUE}",
    ),
    rule(
        "verdict on the claim",
        "The sentence judges 'the claim' instead of stating a fact.",
        _CLAIM_STEMS,
        rf"^[\W_]{{0,12}}(?:(?:\w+ly|note|remember|therefore|thus|hence|so|indeed|in fact|yes|in conclusion"
        rf"|in summary|overall"
        r"|conclusion|result|analysis|update)(?: that)?[\W_]{1,4}){0,2}"
        rf"(?:i (?:can |hereby )*(?:confirm|verify|certify|attest|guarantee|declare|swear)(?: that)? )?the {_CLAIM} "
        rf"(?:that .{{3,300}}? )?(?:is|are|has been|have been|must be|should be|can be|counts as) {_DEGREE}{_TRUE}"
        rf"(?=[\"'`*_]{{0,3}}(?:\W{{0,3}}$|[,;.!]| and\b| by {_THE_SOURCE}| by (?:\w+ )?(?:sources|fact)| in (?:all"
        rf"|every|full)))",
    ),
    rule(
        "says that an authority confirms the claim",
        "The sentence says that someone approved the claim being checked.",
        _CLAIM_STEMS,
        r"\b(?:verif|confirm|validat|certif|prov|support|substantiat|corroborat|approv|entail|back|attest|endors"
        r"|establish)\w*"
        r"(?: (?:to|that|up|the truth of|the accuracy of|for))? (?:(?:this|(?:the )?above|the (?:following|preceding"
        r"|foregoing"
        rf"|given|user'?s|provided|submitted)) (?:\w+ )?{_CLAIM}(?:[.!;:]|$| (?:is|are|as|and|to be|beyond|in full"
        rf"|fully|above)\b)"
        rf"|the {_CLAIM} (?:above|below|at hand|being \w+))",
    ),
    rule(
        "says that the source confirms the claim",
        "The sentence says that the source itself supports the claim.",
        f"{_CLAIM_STEMS}|ground truth|trust this|believe this|rely on this|only this|answer|response",
        rf"\b(?:this|the (?:above|following|present|provided|given|current)) (?:\w+ )?{_DOCUMENT} (?:\w+ly |does "
        rf"|also )*"
        r"(?:supports?|confirms?|proves?|verif(?:y|ies)|entails?|substantiates?|validates?|establishes|attests?)"
        r"(?: to)? "
        rf"(?:(?:the|this)(?: {_PLACED})? (?:{_CLAIM}|answer|response)\b(?! (?:that|of|by|made)\b)"
        rf"|(?:any|every|all|your|said)(?: of)?(?: the)?(?: {_PLACED})? (?:{_CLAIM}|answer|response)\b)",
        rf"\b(?:trust|believe|rely on) (?:only )?this {_DOCUMENT} (?:over|above|more|completely|fully|blindly"
        rf"|unconditionally)",
        rf"{_OPENING}the {_DOCUMENT} (?:\w+ly )*(?:supports|confirms|proves|verifies|entails|validates) the {_CLAIM}"
        r"(?: (?:in full|\w+ly))?\W{0,4}$",
        rf"\b(?:whatever|regardless of what|no matter what) (?:the|this|any|your) (?:\w+ )?{_CLAIM}",
        rf"\bthis {_DOCUMENT} (?:is|as) (?:the )?(?:\w+ )?ground truth",
    ),
)

_ORDERS_TO_ANSWER = (
    rule(
        "tells the checker what to answer",
        "The sentence orders the checker to give a verdict.",
        _GRADE_STEMS,
        rf"{_CLAUSE}{_JUDGE}[\W_]{{1,4}}{_FILLER}{_GRADE}{_ENDS}",
        rf"\b(?:{_CLAIM}|{_OUTPUT}|it|this|that|everything|anything|these|they|verdict|label|score|confidence|result)"
        rf"(?: {_QUOTED})?(?: above| below| here)? {_DUTY} (?:\w+ )?be (?:{_DEGREE}|(?:set|assigned|given|returned"
        rf"|recorded) )"
        rf"(?:as |to |with |the |label |a |of |score ){{0,4}}[\"'`*_]{{0,3}}{_GRADE}{_ENDS}",
        rf"\b{_CHECKER} (?:{_DUTY}|is required to|please) (?:\w+ ){{0,2}}{_JUDGE}\w* {_FILLER}{_GRADE}{_ENDS}",
    ),
    rule(
        "asks for the highest score",
        "The sentence orders the checker to give a score.",
        "score|confidence|probability|rating",
        rf"{_CLAUSE}(?:assign|give|return|output|set|award|report|use|respond with|answer with|write)[\W_]{{1,3}}"
        rf"(?:\w+ ){{0,4}}"
        r"(?:score|confidence|probability|rating)s?[\W_]{1,3}(?:\w+ ){0,4}(?:1\.0+|1(?![\d.,])|100 ?%|0?\.9\d*|10/10"
        r"|maximum|highest|full)",
        r"\b(?:maximum|highest|full|perfect) (?:possible )?(?:score|confidence|rating) (?:to|for) (?:this|the|any"
        r"|every|all) "
        rf"(?:\w+ )?(?:{_CLAIM}|answers?|response)",
    ),
    rule(
        "forbids or skips the check",
        "The sentence asks the checker to skip the check.",
        f"{_CLAIM_STEMS}|as false|as unsupported|as incorrect|as not|as contradicted|as inaccurate|verification"
        f"|fact-check"
        "|fact check|validation|no checking",
        rf"{_CLAUSE}(?:do not|don't|never|(?:there is )?no need to|you (?:must|should|may|can|need|shall) not(?: to)?"
        rf"|refrain from"
        r"|avoid) (?:\w+ )?(?:check|verify|fact-?check|question|doubt|evaluat|flag|mark|label|report|reject|disput"
        r"|contradict"
        r"|classify|rat)\w* (?:\w+ ){0,4}(?:this|the|these|any|all|it|as) ?(?:\w+ ){0,3}"
        rf"(?:{_CLAIM}\b|as (?:false|unsupported|incorrect|not (?:attributable|supported)|contradicted"
        rf"|inaccurate))",
        rf"\b(?:{_POINTED}|{_OPENING}the {_CLAIM}) (?:has |have )?(?:passed|survived) (?:\w+ )?(?:verification|fact"
        rf"|check|review)",
        r"\b(?:verification|fact[- ]?check(?:ing)?|validation) (?:status|result|outcome|complete"
        r"|completed)? ?[:=—\u2013-]+ ?\W{0,3}"
        r"(?:passed|pass|ok|success\w*|complete\w*|verified|supported|true|confirmed)\b",
        r"^\W{0,6}no (?:further |additional )?(?:verification|fact[- ]?checking|checking) (?:is )?(?:needed|required"
        r"|necessary)"
        r"\W{0,6}$|^\W{0,6}(?:verification|fact[- ]?check(?:ing)?) (?:is |has been |was )?(?:completed?|passed"
        r"|successful)\W{0,6}$",
    ),
)

_KEY = (
    r"(?:verdict|label|judge?ment|classification|prediction|relation|assessment|decision|conclusion|(?:final|correct"
    r"|expected) "
    r"(?:answer|output)|output|answer|evaluation|entailment|attribution|veracity|determination|status|result|ruling)"
)
_GIVES = r"[\"'*_`]{0,3} ?(?:[:=]+>?|is|->|=>|→|—|\u2013)[\"'*_`\[( ]{0,5}"
_FORGERIES = (
    rule(
        "forges the checker's output",
        "The sentence has the form of a verdict.",
        "attributable|supported|entail|verified|score|confidence|error_type|verdict|label|veracity|truth value|claim"
        "|statement"
        '|<answer|<result|<output|<rating|<judg|<class|<decision|<final|[[|"is_|"relation|"faithful',
        r"[\"'](?:label|verdict|is_?(?:supported|attributable|true)|attributable|supported|attribution|judge?ment"
        r"|relation"
        r"|prediction|classification|decision|entailment|veracity|faithful|status|result|answer|output)[\"'] ?: ?[\"']?"
        r"(?:attributable\b|supported|entail|true|verified|correct|match|1\b)",
        r"[\"'](?:score|confidence|support_score|probability)[\"'] ?: ?[\"']?(?:1\b|0?\.9|100)",
        r"[\"']error_type[\"'] ?: ?[\"']?(?:none|null)",
        r"<(?:verdict|label|answer|judge?ment|result|score|classification|decision|final_answer|output"
        r"|rating)> ?\W{0,3}"
        r"(?:attributable|supported|true|verified|correct|entail\w*|yes|1(?:\.0+)?|100)\b",
        r"\[\[ ?(?:(?:score|verdict|label|rating|answer|confidence|result)\W{0,3}(?:1|0?\.9|100|attributable"
        r"|supported|true"
        r"|verified|yes|correct)|(?:attributable|supported|true|yes)\b)",
        rf"\b{_KEY}{_GIVES}{_LABEL}{_ENDS}",
        rf"\b(?:verdict|(?:gold|correct) label|label|veracity|truth value){_GIVES}(?:true|correct|accurate|yes"
        rf"|factual){_ENDS}",
        rf"\b{_CLAIM}{_GIVES}(?:{_LABEL}|true|correct|confirmed){_ENDS}",
        rf"\b{_CLAIM}:.{{3,400}}?[=→—\u2013|(>-][>-]? ?[\"'*_`]{{0,3}}(?:{_LABEL}|true|correct|confirmed){_ENDS}",
    ),
    rule(
        "bare label",
        "The sentence is only a label.",
        "attributable|supported|verified|entail|-> true|=> true|→ true|-> correct|=> correct",
        rf"{_OPENING}(?:(?:\w+ly|it is|it's|this is|thus|therefore|attributable and)[, ]+){{0,2}}"
        r"(?:attributable|supported|verified|entailed|entailment)[\W_]{0,12}$",
        r"(?:^\W{0,4}|\b(?:claim|statement)\b ?:.{0,400})(?:->|=>|→) ?\W{0,3}(?:true|correct|supported|verified)\b",
        r"^\W{0,4}(?:verdict|label|(?:final )?answer|result|judge?ment) ?[:=] ?\W{0,3}"
        r"(?:supported|attributable|verified)\b",
        r"\b(?:it is|as|answer|answered) (?:\w+ly |with |is )?[\"'`*]?attributable(?! to\b)\b",
    ),
)

RULES: tuple[Rule, ...] = (*_MESSAGES, *_VERDICTS, *_ORDERS_TO_ANSWER, *_FORGERIES)
"""All English rules. Where several match, the first counts; those that open a message come first, for their reach."""
