"""Words that demand, allow or forbid, and words that say how far along or how sure something is.

The patterns expect lower-case text with straight apostrophes. "May" and "can" count as permission unless what follows
is no one's choice ("may fail", "may be due to"). Not supported: verbs in the imperative, except denied ones.
"""

from __future__ import annotations

import re
from typing import Literal

Force = Literal["required", "allowed", "forbidden", "optional", "recommended", "discouraged"]


def any_of(*lines: str) -> str:
    """A pattern for any of the phrases, which bars separate, as whole words."""
    return r"\b(?:" + "|".join(line.strip("|") for line in lines) + r")\b"


def _pattern(*lines: str) -> re.Pattern[str]:
    return re.compile(any_of(*lines))


_FORCES: dict[Force, str] = {
    "forbidden": any_of(
        "prohibited|forbidden|prohibits?|forbids?|bans?|banned|barred|outlawed|disallowed|off limits",
        "against the rules",
        "ruled out|impermissible|inadmissible|taboo",
    ),
    "optional": any_of(
        "optional(?:ly)?|voluntar(?:y|ily)|discretionary|at (?:\\w+ )?(?:own )?(?:discretion|option)",
        "(?:is|are) up to",
        "if (?:they|you|he|she|one|it) (?:so )?(?:wish|like|want|prefer)(?:es|s)?|(?:is|are) left to|not compulsory",
    ),
    "required": any_of(
        "must|mustn't|ha(?:s|ve) (?:(?:also|only|still|always|first|then) )?to|had to|having to|compelled|bound to",
        "(?:is|are|be|being|was|were|not) required|required to|requires?|obliged?|obliges|obligated|obligation",
        "obligatory|compulsory|mandatory|imperative|a must|needs?|needn't|needed|necessary",
    ),
    "recommended": any_of(
        "should|shouldn't|ought to|recommend(?:s|ed|ation)?|advise[sd]?|advisable|(?:had|'d) better|encouraged?",
        "suggested|preferabl[ey]",
    ),
    "allowed": any_of(
        "may|can|cannot|can't|allow(?:s|ed)?|permit(?:s|ted)|permissible|entitle[sd]?|eligible|free to|authori[sz]ed",
        "at liberty|welcome to|able to|possible|acceptable|tolerated|admissible|the right to|(?:an|the) option",
        "(?:is|are) fine|let in(?:to)?|admitted",
    ),
}
FORCE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _FORCES.items()))
"""Each match is in the group that is named after its force."""
CHANCE = re.compile(
    r"\bmay (?:(?:also|still|even|well|not|soon|then|sometimes) )*(?:have\b|be (?:due|out|caused|affected|delayed|"
    r"reduced|ready|part|\d|about|the|a|an|too|more|less|possible|necessary|needed|required|considered|slightly|able|higher|lower|"
    r"longer)\b|fail|cause|contain|become|turn|lead|result|change|vary|occur|happen|rise|fall|increase|decrease|drop|"
    r"affect|last|differ|need|require|appear|lose|crack|time out|get|feel|take up|take longer|help|explain|come|seem|"
    r"reflect|suffer|exist|remain|persist|worsen|improve|add|hold up|die|break|interact|make)"
)
""""May" as a chance, not a permission."""

OPEN = _pattern(
    "might|could|possibly|perhaps|maybe|potentially|conceivabl[ey]|allegedly|alleged|reportedly",
    "supposedly|purportedly",
    "rumou?red|suspect(?:s|ed)?|suspicion|(?:said|thought|believed?|appears?|seems?) to|believes?|suggests?",
    "suggested that|consider(?:s|ing)|being (?:considered|discussed|examined|tested|reviewed)|discuss(?:es|ing|ed)",
    "under (?:consideration|discussion|review|examination)|propos(?:es|ed|ing|als?)|hopes?",
    "applied for|ha(?:s|ve) applied",
    "application|pending|await(?:s|ing)|undecided|not been confirmed|unconfirmed|negotiat(?:es|ing|ions)|in talks",
    "accus(?:es|ed|ing)|sued|charged with|nominated|bids?|whether|probably|likely|presumably|estimated|has it that",
    "is a possibility|not (?:yet )?decided|wants|requested|submitted|claims that|claimed",
)
"""Not known, or not decided."""
EXPECTED = _pattern(
    "will|won't|shall|(?:is|are|was|were) to|plan(?:s|ned|ning)?|schedul(?:ed|es)",
    "due (?:in|on|by|for)|intend(?:s|ed)?",
    "due to (?=be |[a-z]+ (?:in|on|by|at|from) )[a-z]+|announc(?:e[sd]?|ing)|intention|aim(?:s|ed)?|expect(?:s|ed)?",
    "going to|in preparation|under construction|draft(?:ed)?|about to|to come|upcoming|forthcoming|promised?|booked",
    "arranged|postponed|put off|on order|being (?!considered|discussed|examined)\\w+(?:ed|en|t)",
)
"""Decided or likely, but still to come."""
SETTLED = re.compile(
    r"\b(?:has|have|had) (?:\w+ )?(?:been|\w+(?:ed|en|un|wn|ld|nt|de|pt|ught|id))\b|\b(?:was|were) \w+|"
    r"\bin (?:use|force|operation|service)\b|\b(?:is|are) (?:certain|sure|known|open|guaranteed)\b|"
    r"(?<!is )(?<!are )(?<!be )(?<!being )(?<!to )\b[a-z]{3,}ed\b(?! (?:by|to|for|on|in) )|"
    r"\b(?:already|done|completed?|finished|now|currently|proven|established|confirmed)\b"
)
"""Has happened, or holds now."""
REALISED = _pattern(
    "carried out|held|granted|begun|started|completed|finished|released|introduced|approved|adopted",
    "delivered|launched",
    "published|opened|implemented|done|built|installed|signed|awarded|decided|set up|laid out",
    "accepted|appointed|elected",
    "convicted|arrived|took place|taken place|put in place|came out|come out|in place|in force",
    "in use|ha(?:s|ve) been \\w+",
)
"""An event is over: whatever was planned or proposed came true."""
UNREALISED = _pattern(
    "yet to|await(?:s|ing)|waiting|not yet|still (?:being|under|open|in|to|pending|a draft)|pending|undecided",
    "(?:only|merely) planned|(?:is|are) due to be|(?:is|are) to be|(?:is|are) being",
)
"""An event is still to come."""
AVERTED = re.compile(
    r"\b(?:nearly|almost|all but|(?:narrowly|just|barely) (?:avoid|escap|miss)(?:ed|es|ing)"
    r"|c[ao]m(?:es?|ing) (?:very |so |dangerously )?(?:close|near) to|(?:on|to) the (?:verge|brink|edge) of"
    r"|within (?:an inch|inches|a whisker) of)(?: (?:being|been|having))?\b",
    re.IGNORECASE,
)
"""What follows almost happened."""
TENTATIVE = _pattern(
    "thinking|ideas?|suggest\\w*|reported|possib\\w+|threat\\w*|in mind|trials?|suing|suit",
    "den[iy]\\w*|disput\\w*|reject\\w*",
    "threw|thinks?|sees|once|awaited|question|target|plans?|acquit\\w*|according|said|says",
    "contest\\w*|left open|wants?",
    "wanted|view|opinion",
)
"""Words of a claim that keep its distance, so that a source in doubt does not contradict it."""
PROMISE = re.compile(r"\bwill\b(?! be able)")
MAY = re.compile(r"\bmay\b")
USUALLY = _pattern("normally|usually|generally|as a rule|mostly|typically|in most cases")
REGARDLESS = _pattern(
    "even|regardless|whatever|however \\w+|no matter|in any case|at any (?:time|point)|always",
    "without exception|whether",
    "including|included|under all circumstances|in all cases|irrespective|invariably|alike|wherever",
    "whoever|whichever",
    "freely|without (?:\\w+ ){0,3}(?:having|needing|asking|requiring|giving|any|anybody|anyone)",
)
"""Says that something holds under all conditions, or for what might be excepted."""

ALL = _pattern("all|every|each|whole|entire|both|every(?:one|body|thing)|none but")
"""All are meant."""
SOME = _pattern(
    "some|most|many|several|half|a few|part of|(?:the )?(?:majority|minority) of|[\\d.]+ ?(?:percent|%) of|one in \\w+",
    "\\d+ of (?:the )?\\d+|two thirds of|a (?:third|quarter) of",
)
"""Not all need be meant."""
ONLY_SOME = _pattern(
    "only (?:some|part|a few|half|one) of|only (?:some|a few)|some \\w+ only|a minority",
    "not (?:all|every|each|everyone)",
)
"""Denies that all are meant."""
