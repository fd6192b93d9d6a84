"""One browser and one server with a ledger for all tests of the pages: both take seconds to start."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.test_page_in_browser import BROWSER
from tests.serve.browsing import QUIET

if TYPE_CHECKING:
    from vouching.serve.service import Service


@pytest.fixture(scope="module")
def browser() -> Generator[Any]:
    playwright: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    pytest.importorskip("axe_playwright_python", reason="axe is not installed")
    if BROWSER is None:
        pytest.skip("no browser found")
    with playwright.sync_playwright() as library:
        started = library.chromium.launch(executable_path=BROWSER, args=QUIET)
        yield started
        started.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, Service]]:
    """A server without keys and with a ledger: its address and its service."""
    pytest.importorskip("fastapi", reason="the extra serve is not installed")
    from tests.serve.served import policy, served

    with served(policy(ledger=str(tmp_path_factory.mktemp("site") / "verdicts.db"))) as found:
        yield found


@pytest.fixture(scope="session")
def address(site: tuple[str, Service]) -> str:
    return site[0]
