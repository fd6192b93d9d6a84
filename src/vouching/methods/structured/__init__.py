"""SEVA: a whole record for each claim: alignment, reasons, label, confidence, type of error, fix."""
