"""The web page of a server, in a real browser against a real server."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.search.test_documents import pdf_of
from tests.serve.browsing import ATTACKS, faults_of_access, opened
from tests.serve.served import policy, served
from vouching.search.index_writer import create_index
from vouching.serve.keys import KeyFile
from vouching.serve.policy import JudgeSettings
from vouching.types import Source

ANSWER = "The bridge opened in 1937. It has three towers."
SOURCE = "The bridge opened to traffic in 1973. It has three towers."


@pytest.fixture
def page(browser: Any, address: str) -> Generator[Any]:
    """The page, freshly opened; what its console says and what it asks of other servers are faults."""
    shown = browser.new_page(viewport={"width": 1440, "height": 900})
    shown.set_default_timeout(60_000)
    faults: list[str] = []
    shown.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    shown.on("pageerror", lambda error: faults.append(str(error)))
    shown.on("request", lambda asked: None if asked.url.startswith(address) else faults.append(asked.url))
    shown.goto(address)
    yield shown
    shown.close()
    assert faults == []


def check(page: Any, answer: str = ANSWER, source: str = SOURCE) -> None:
    """Fill in the form, send it with the keys, and wait for the result."""
    page.fill("#said", answer)
    page.fill("#pasted", source)
    page.press("#said", "Control+Enter")
    page.wait_for_selector(".finding.on")


def test_a_text_is_checked_and_read_with_the_keys_alone(page: Any) -> None:
    check(page)
    assert page.inner_text("#status").startswith("Done in ")
    assert [row.text_content() for row in page.query_selector_all(".workspace .row .line")] == [
        "The bridge opened in 1937.",
        "It [the bridge] has three towers.",
    ]
    assert "Change 1937 to 1973." in page.inner_text(".finding.on")
    assert page.inner_text(".text.on mark[data-lit=mismatch]") == "1973"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    assert page.inner_text(".finding.on h3").strip() == "✓ Attributable"


def test_a_second_check_replaces_the_first_and_its_keys_move_one_claim_at_a_time(page: Any) -> None:
    check(page)
    check(page, "It has three towers. It opened in 1937. It is painted blue.")
    assert len(page.query_selector_all(".workspace")) == 1
    page.evaluate("document.activeElement.blur()")
    before = page.evaluate("location.hash")
    page.keyboard.press("k")  # the first shown is the first that needs attention: the second claim
    assert (before, page.evaluate("location.hash")) == ("", "#claim-1")


def test_files_become_sources_and_can_be_taken_back(page: Any, tmp_path: Path) -> None:
    table, notes = tmp_path / "rooms.md", tmp_path / "notes.txt"
    table.write_text("# Rooms\n| Room | Seats |\n| --- | --- |\n| Aster | 20 |\n| Birch | 30 |\n", encoding="utf-8")
    notes.write_text("Nothing of use.", encoding="utf-8")
    page.set_input_files("#files", [str(table), str(notes)])
    page.wait_for_selector("#added li:nth-child(2)")
    page.click("#added li:nth-child(2) button")
    assert len(page.query_selector_all("#added li")) == 1
    page.fill("#said", "Aster has 30 seats.")
    page.click("#check")
    page.wait_for_selector(".finding.on")
    assert page.inner_text(".text.on h3").startswith("rooms.md")
    assert [cell.inner_text() for cell in page.query_selector_all(".drawn tbody tr:first-child td")] == ["Aster", "20"]


def test_pdf_and_html_become_sources_that_name_their_page(page: Any, tmp_path: Path) -> None:
    report, web = tmp_path / "report.pdf", tmp_path / "news.html"
    report.write_bytes(pdf_of("The bridge opened to traffic in 1973.", "It has three towers."))
    web.write_text("<html><script>hit()</script><p>The bridge is painted blue.</p></html>", encoding="utf-8")
    page.set_input_files("#files", [str(report), str(web)])
    page.wait_for_selector("#added li:nth-child(3)")
    page.fill("#said", "It has two towers.")
    page.click("#check")
    page.wait_for_selector(".finding.on")
    assert page.inner_text(".finding.on a.place").startswith("report.pdf#page=2")


def test_a_server_with_an_index_finds_the_sources_itself(browser: Any, tmp_path: Path) -> None:
    with create_index(tmp_path / "towns") as writer:
        writer.add(Source(SOURCE, id="bridge.txt"))
    searching = replace(
        policy(), judges={"default": JudgeSettings("embedded:rules", search=(f"index:{tmp_path}/towns",))}
    )
    with served(searching) as (address, _):
        shown = opened(browser, address)
        check(shown, "The bridge opened in 1937.", "")
        assert shown.inner_text(".text.on mark[data-lit=mismatch]") == "1973"
        shown.context.close()


def test_a_file_that_cannot_be_read_is_named_and_the_form_keeps_what_it_has(
    browser: Any, address: str, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 this is none")
    shown = opened(browser, address)
    shown.fill("#said", ANSWER)
    shown.set_input_files("#files", str(broken))
    shown.wait_for_selector("#status.fault")
    assert "broken.pdf" in shown.inner_text("#status")
    assert shown.input_value("#said") == ANSWER
    shown.close()


def test_a_server_with_keys_takes_one_for_a_cookie_that_scripts_cannot_read(browser: Any, tmp_path: Path) -> None:
    secret, _ = KeyFile(tmp_path / "keys.json").add("reader", ["check"])
    with served(policy(keys=str(tmp_path / "keys.json"))) as (address, _):
        shown = opened(browser, address)
        shown.fill("#secret", "vouch_wrong")
        shown.click("button[type=submit]")
        shown.wait_for_selector("#status.fault")
        assert "key" in shown.inner_text("#status")
        shown.fill("#secret", secret)
        shown.click("button[type=submit]")
        shown.wait_for_selector("#ask")
        check(shown)
        [cookie] = shown.context.cookies()
        stored = shown.evaluate("[document.cookie, localStorage.length, sessionStorage.length]")
        assert (cookie["httpOnly"], cookie["sameSite"], secret in cookie["value"]) == (True, "Strict", False)
        assert shown.inner_text(".who bdi") == "reader"
        shown.click("#sign-out")
        shown.wait_for_selector("#sign-in")
        assert shown.context.cookies() == []
        shown.close()
    assert stored == ["", 0, 0]


def test_without_a_text_or_a_source_nothing_is_sent(page: Any) -> None:
    page.fill("#said", ANSWER)
    page.press("#said", "Control+Enter")
    assert page.inner_text("#status") == "Paste a source, or add a file."


def test_texts_that_are_markup_stay_texts_wherever_they_are_shown(page: Any, tmp_path: Path) -> None:
    page.evaluate("window.hit = () => { window.wasHit = true; }; null")
    named = tmp_path / "<img src=x onerror=hit()>.txt"
    named.write_text(" ".join(ATTACKS), encoding="utf-8")
    page.set_input_files("#files", str(named))
    page.wait_for_selector("#added li")
    check(page, " ".join(f"{attack} opened in 1937." for attack in ATTACKS), "\n".join(f"{a} 1973." for a in ATTACKS))
    page.wait_for_timeout(300)
    assert page.evaluate("window.wasHit") is None
    assert page.query_selector("#result img, #result iframe, #result style, #arriving img") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility_is_found(browser: Any, address: str, scheme: str) -> None:
    shown = opened(browser, address, color_scheme=scheme)
    check(shown)
    assert faults_of_access(shown) == []
    shown.close()


def test_on_a_phone_the_page_does_not_scroll_aside_and_the_claim_opens_over_the_list(
    browser: Any, address: str
) -> None:
    shown = browser.new_page(viewport={"width": 390, "height": 800})
    shown.set_default_timeout(60_000)
    shown.goto(address)
    shown.fill("#said", ANSWER)
    shown.fill("#pasted", SOURCE)
    shown.click("#check")
    shown.wait_for_selector(".workspace .row")
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shown.click(".workspace .row a")
    shown.wait_for_selector(".reading.open .finding.on")
    shown.close()
