"""Windows for one claim: what is withheld or marked stays so wherever a window is cut."""

import pytest

from vouching.judging.windows import ScreenedSources
from vouching.types import Source, Span


@pytest.mark.parametrize("limit", [200, 250, 300, 2_000])
def test_what_is_withheld_or_marked_stays_so_in_every_window(limit: int) -> None:
    report = "Ann said that " + "the long bridge over the river " * 6 + "opened in 1931."
    text = f"The town is old. {report} {'It has two lanes. ' * 20}Horoscope: the bridge opened."
    sources = [Source(text, "a"), Source(text, "b")]
    mention = Span(report, text.index(report), text.index(report) + len(report), "a")
    last = text.index("Horoscope")
    overlapping = [Span(text[last:], last, len(text), "a"), Span(text[last + 5 : -2], last + 5, len(text) - 2, "a")]
    shown = ScreenedSources(sources).for_claim(overlapping, [mention])
    whole = "".join(excerpt.text for window in shown.windows(limit) for excerpt in window)
    assert "Horoscope" not in whole
    assert whole.count("opened in 1931.]") == whole.count("opened in 1931.") >= 2
    found = shown.find("It has two lanes")
    assert found is not None
    assert text[found.start : found.end] == found.text
    assert shown.find("Horoscope: the bridge opened") is None
