"""Every verdict kept: rows that are only appended, in chains that show what was changed, removed or inserted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.ledger.ledger import Ledger, open_ledger
    from vouching.ledger.retention import RetentionRule
    from vouching.types.ledger import Entry, Filters, Head, LedgerRow, Verification

__all__ = ["Entry", "Filters", "Head", "Ledger", "LedgerRow", "RetentionRule", "Verification", "open_ledger"]

__getattr__, __dir__ = lazily(__name__)
