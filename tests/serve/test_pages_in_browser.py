"""History and review in a real browser against a real server, each test with verdicts of its own caller."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from tests.report.records import SOURCE, supported, wrong_year
from tests.serve.browsing import ATTACKS, faults_of_access, opened
from vouching.review import ReviewQueue
from vouching.types import Claim, Verdict
from vouching.types.ledger import Entry
from vouching.types.review import Decision, ItemId, QueueFilters
from vouching.types.serial import to_python

if TYPE_CHECKING:
    from vouching.serve.service import Service

Site = tuple[str, "Service"]
INJECTED = "main img, main iframe, section img, section iframe, #item img, #item iframe, .who img, [onload]"
"""Elements that a page has only if a text became markup."""
PAGES = ("/history", "/history/1", "/review")


def judged(site: Site, caller: str, *verdicts: Verdict, source_id: str = "bridge.txt") -> list[int]:
    """Append verdicts of one caller to the ledger of the server; their ids."""
    assert site[1].recorder is not None
    sources = [{"id": source_id, "text": SOURCE}]
    entries = [
        Entry("serve", "check", {"claim": one.claim.text, "sources": sources}, to_python(one), caller)
        for one in verdicts
    ]
    return site[1].recorder.ledger.append(entries)


def doubtful(text: str, confidence: float) -> Verdict:
    return replace(supported(Claim(text)), score=confidence, confidence=confidence)


def queue_of(site: Site) -> ReviewQueue:
    assert site[1].recorder is not None
    return ReviewQueue(site[1].recorder.ledger)


def reviewing(browser: Any, site: Site, caller: str, name: str = "Ada", **settings: Any) -> Any:
    """The review page of a reviewer, with the first verdict of a caller."""
    page = opened(browser, site[0], f"/review?caller={caller}", name, **settings)
    page.wait_for_selector("#item > *")
    return page


def shown_id(page: Any) -> str:
    return page.get_attribute(".deciding", "data-id")


def until_listed(page: Any, query: str) -> None:
    """Waits for the list that answers a query, which the page writes to its address once it is drawn.

    The number of rows would not tell: the list of the query before may have as many.
    """
    page.wait_for_url(lambda address: query in address)


def test_a_search_narrows_the_history_while_it_is_typed_and_keys_open_an_entry(browser: Any, site: Site) -> None:
    judged(site, "historian", wrong_year(), supported(Claim("It has two towers, says the mayor.")))
    page = opened(browser, site[0], "/history", "Ada")
    page.keyboard.press("/")
    page.keyboard.type("towers MAYOR")
    until_listed(page, "text=towers+MAYOR")
    assert page.locator(".entries .line").all_inner_texts() == ["It has two towers, says the mayor."]
    page.fill("#text", "")
    page.select_option("[name=label]", "Not Attributable")
    page.fill("[name=caller]", "historian")
    until_listed(page, "caller=historian")
    assert page.locator(".entries .row").count() == 1
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector(".finding.on")
    assert page.inner_text(".text.on mark[data-lit=mismatch]") == "1973"
    page.context.close()


def test_a_verdict_is_corrected_with_keys_alone_and_taken_back(browser: Any, site: Site) -> None:
    first, second = judged(
        site, "keys", doubtful("The bridge opened in 1937.", 0.51), doubtful("It has two towers.", 0.6)
    )
    page = reviewing(browser, site, "keys")
    assert shown_id(page) == f"{first}.0"  # the confidence nearest to one half
    page.keyboard.press("4")  # the second error type; the label follows
    page.evaluate("""() => {
      const text = document.querySelector("#claim span").firstChild;
      getSelection().setBaseAndExtent(text, 21, text, 25);
    }""")
    page.keyboard.press("s")
    page.keyboard.press("f")
    page.keyboard.press("Control+a")
    page.keyboard.type("The bridge opened in 1973.")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type("The source says 1973.")
    page.keyboard.press("Enter")
    page.wait_for_selector(f".deciding[data-id='{second}.0']")
    [review] = queue_of(site).audit(limit=1)
    assert (review.reviewer, review.label, review.error_type) == ("Ada", "Not Attributable", "temporal_shift")
    assert (review.span, review.fix, review.note) == ((21, 25), "The bridge opened in 1973.", "The source says 1973.")
    page.keyboard.press("Enter")  # confirms the second one
    page.wait_for_selector("text=Nothing left to review")
    page.keyboard.press("u")
    page.wait_for_selector(f".deciding[data-id='{second}.0']")
    counts = queue_of(site).counts(QueueFilters(caller="keys"))
    assert (counts.open, counts.final) == (1, 1)
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.context.close()


def test_two_reviewers_at_once_get_different_verdicts_and_whoever_comes_late_is_refused(
    browser: Any, site: Site
) -> None:
    judged(site, "pair", doubtful("It has two towers.", 0.51), doubtful("It was opened in 1973.", 0.6))
    ada, bob = reviewing(browser, site, "pair", "Ada"), reviewing(browser, site, "pair", "Bob")
    ids = shown_id(ada), shown_id(bob)
    assert len({*ids}) == 2
    late = bob.request.post(f"{site[0]}/v1/queue/{ids[0]}/decide", data={"note": ""}, headers={"origin": site[0]})
    assert late.status == 409
    bob.keyboard.press("j")  # he skips his, and hers is not offered
    bob.wait_for_selector("text=Nothing left to review")
    ada.keyboard.press("Enter")
    ada.wait_for_selector(f".deciding[data-id='{ids[1]}']")
    ada.context.close()
    bob.context.close()


def test_a_span_is_counted_in_characters_also_where_a_browser_counts_two(browser: Any, site: Site) -> None:
    claim = "\U0001f309 It\u202e opened in 1937."  # a bridge of two UTF-16 units, and a mark that is written out
    judged(site, "spans", doubtful(claim, 0.5))
    page = reviewing(browser, site, "spans")
    page.keyboard.press("2")
    page.fill("#span", "1937")
    page.press("#span", "Enter")
    page.wait_for_selector("text=Nothing left to review")
    [review] = queue_of(site).audit(limit=1)
    assert review.span is not None
    assert claim[slice(*review.span)] == "1937"
    page.context.close()


@pytest.mark.parametrize(
    ("claim", "words", "part"),
    [
        ("İstanbul opened in 1937.", "1937", "1937"),  # its lower case has a character more
        ("It cost (about) $3.50 [sic].", "$3.50 [SIC].", "$3.50 [sic]."),
    ],
)
def test_a_typed_span_is_found_in_the_claim_itself(browser: Any, site: Site, claim: str, words: str, part: str) -> None:
    caller = f"typed {part}"
    judged(site, caller, doubtful(claim, 0.5))
    page = reviewing(browser, site, caller)
    page.keyboard.press("2")
    page.fill("#span", words)
    page.press("#span", "Enter")
    page.wait_for_selector("text=Nothing left to review")
    [review] = queue_of(site).audit(limit=1)
    assert review.span is not None
    assert claim[slice(*review.span)] == part
    page.context.close()


def test_the_type_that_is_stored_is_the_one_that_is_shown(browser: Any, site: Site) -> None:
    verdict = wrong_year()
    judged(site, "types", verdict)
    page = reviewing(browser, site, "types")
    shown = "document.querySelector('#types input:checked')?.value ?? null"
    assert page.evaluate(shown) == verdict.error_type
    page.keyboard.press("1")
    assert page.evaluate(shown) is None  # Attributable has no error type
    page.keyboard.press("2")
    seen = page.evaluate(shown)
    assert seen == verdict.error_type
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Nothing left to review")
    [review] = queue_of(site).audit(limit=1)
    assert (review.label, review.error_type) == ("Not Attributable", seen)
    page.context.close()


def test_markup_stays_text_on_every_page(browser: Any, site: Site) -> None:
    attack, name = " ".join(ATTACKS), f"Eve {ATTACKS[0]}"
    verdict = wrong_year(Claim(f"The bridge opened in 1937. {attack}"))
    verdict = replace(verdict, fix_suggestion=attack, revised_claim=attack)
    [row] = judged(site, ATTACKS[2], verdict, source_id=attack)
    queue, item = queue_of(site), ItemId(row)
    queue.take_item(name, item)
    queue.decide(name, item, Decision(note=attack, fix=attack))
    queue.object(ATTACKS[1], item, attack)
    page = opened(browser, site[0], f"/review?item={row}", name)
    page.wait_for_selector(".deciding")
    page.keyboard.press("f")  # the fix that is suggested
    assert page.input_value("#fix") == attack
    assert attack in page.inner_text("#claim")
    assert page.query_selector(INJECTED) is None
    assert page.evaluate("window.wasHit") is None
    queries = {"text": ATTACKS[0], "caller": ATTACKS[2]}
    for path in ("/history", f"/history/{row}"):
        page.goto(f"{site[0]}{path}?{urlencode(queries if path == '/history' else {})}")
        assert page.query_selector(INJECTED) is None
        assert page.evaluate("window.wasHit") is None
        if path == f"/history/{row}":
            assert attack in page.inner_text(".said-of")
    page.context.close()


def test_every_page_is_accessible_and_fits_a_phone(browser: Any, site: Site) -> None:
    judged(site, "access", *[wrong_year()] * 8)
    found: dict[str, Any] = {}
    for width, scheme in ((380, "light"), (820, "dark"), (1440, "dark")):
        page = opened(browser, site[0], "", "Ada", viewport={"width": width, "height": 800}, color_scheme=scheme)
        for path in PAGES:
            page.goto(site[0] + path)
            page.wait_for_selector("#item > *" if path == "/review" else "main")
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found[f"{path} at {width}"] = "wider than the window"
            if width != 820 and (faults := faults_of_access(page)):
                found[f"{path} at {width}"] = faults
        page.context.close()
    stranger = opened(browser, site[0], "/review")
    stranger.wait_for_selector("#sign-in")
    found |= {"sign in": faults} if (faults := faults_of_access(stranger)) else {}
    stranger.context.close()
    assert found == {}


def test_on_a_phone_claim_and_source_are_seen_together_and_the_buttons_too(browser: Any, site: Site) -> None:
    judged(site, "phone", wrong_year())
    page = reviewing(browser, site, "phone", viewport={"width": 380, "height": 800})
    for selector in ("#claim", ".text.on mark[data-lit=mismatch]", "#save", "#skip"):
        box = page.query_selector(selector).bounding_box()
        assert 0 <= box["y"] <= 800 - box["height"], selector
    page.context.close()


def test_two_thousand_verdicts_stay_smooth(browser: Any, site: Site) -> None:
    """The fastest of nine, with a wide limit: tests run on busy machines. benchmarks/review.py has the median."""
    judged(site, "many", *[doubtful(f"It has {n} towers.", 0.5 + n / 10_000) for n in range(2_000)])
    queue_of(site).refresh()
    page = reviewing(browser, site, "many")
    times: list[float] = []
    for _ in range(9):
        times.append(page.evaluate(DECIDE))
    assert min(times) < 1_500
    assert queue_of(site).counts(QueueFilters(caller="many")).final == 9
    page.context.close()


DECIDE = """async () => {
  const before = document.querySelector(".deciding").dataset.id;
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  while (document.querySelector(".deciding").dataset.id === before) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""
"""Milliseconds from the key that saves a decision until the next verdict is drawn."""


def test_the_queue_answers_in_json_too(site: Site) -> None:
    import httpx2

    [row] = judged(site, "json", wrong_year())
    url, mine = site[0], {"caller": "json"}
    taken = httpx2.post(f"{url}/v1/queue/next", json=mine).json()
    assert (taken["item"]["id"], taken["item"]["verdict"]["label"]) == (f"{row}.0", "Not Attributable")
    wrong = httpx2.post(f"{url}/v1/queue/{row}.0/decide", json={"label": "Attributable", "error_type": "fabrication"})
    assert (wrong.status_code, "no error type" in wrong.text) == (422, True)
    assert httpx2.post(f"{url}/v1/queue/{row}.0/decide", json={}).json()["state"] == "final"
    listed = httpx2.get(f"{url}/v1/queue", params={**mine, "state": "final"}).json()
    assert ([one["id"] for one in listed["items"]], listed["counts"]["final"]) == ([f"{row}.0"], 1)
    [entry] = httpx2.get(f"{url}/v1/queue/audit", params={"item": f"{row}.0"}).json()
    assert (entry["reviewer"], entry["action"]) == ("anyone", "decide")
    assert json.dumps(httpx2.post(f"{url}/v1/queue/undo").json()["item"]["id"]) == f'"{row}.0"'
