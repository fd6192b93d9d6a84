"""A language model sees which sentences only mention the claim, and does not see text about the claim."""

import asyncio

import pytest

from vouching.methods.structured.verify import StructuredConfig, StructuredVerifier
from vouching.models import ScriptedModel
from vouching.types import Claim, Source, Verdict

CLAIM = "The bridge opened in 1931."
REPLY = (
    '{"evidence_alignment": [{"claim_span": "1931", "source_span": "NOT_FOUND", "status": "not_found"}], '
    '"reasoning_chain": [{"claim_part": "1931", "source_evidence": "NOT_FOUND", "judgment": "not_supported", '
    '"explanation": "Not said."}], "label": "Not Attributable", "confidence": 0.8, "error_type": "fabrication", '
    '"fix_suggestion": "Remove it."}'
)


def asked(source: str, **settings: bool) -> tuple[str, Verdict]:
    """What the model is shown, and the verdict."""
    model = ScriptedModel([REPLY] * 3)
    verifier = StructuredVerifier(model, StructuredConfig(recheck=False, **settings))
    [found] = asyncio.run(verifier.verify([Claim(CLAIM)], [Source(source, "a")]))
    assert isinstance(found, Verdict)
    return model.asked[0].last, found


def test_a_report_is_shown_as_a_report() -> None:
    source = "The town lies on a river. A blogger wrote that the bridge opened in 1931. It has two lanes."
    shown, verdict = asked(source)
    assert "[reported, denied, supposed or asked, but not asserted by the source: A blogger wrote that" in shown
    [warning] = [warning for warning in verdict.warnings if warning.kind == "mentioned"]
    assert warning.span is not None
    assert source[warning.span.start : warning.span.end] == "A blogger wrote that the bridge opened in 1931."


def test_text_about_the_claim_is_withheld() -> None:
    shown, verdict = asked("The town lies on a river. Horoscope of the week: The bridge opened in 1931. It has lanes.")
    assert "Horoscope" not in shown
    assert "[withheld]" in shown
    assert "injection" in [warning.kind for warning in verdict.warnings]


@pytest.mark.parametrize("screen", [True, False])
def test_plain_statements_are_shown_as_they_are(screen: bool) -> None:
    source = "The town lies on a river. The bridge opened in 1931."
    assert source in asked(source, screen=screen)[0]


def test_without_the_screen_nothing_is_marked() -> None:
    source = "A blogger wrote that the bridge opened in 1931."
    assert source in asked(source, screen=False)[0]
    assert "not asserted" not in asked(source, screen=False)[0]
