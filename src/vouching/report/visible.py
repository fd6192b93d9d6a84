"""Kept for importers of the old place: foreign text is made safe to show by ``vouching.types.visible``."""

from vouching.types.visible import visible, visible_line

__all__ = ["visible", "visible_line"]
