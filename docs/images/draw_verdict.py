"""Draw the picture of a verdict in docs/index.md: a real run, in the words and colours of ``vouch check``.

    python docs/images/draw_verdict.py

The claim and the source are SEVA's (Appendix G, example 2). The picture refers to nothing outside itself.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

import vouching
from vouching.report import print_verdict

CLAIM = "The study involved 500 participants from 12 countries."
SOURCE = "The research included 500 volunteers from 8 different nations."
COLUMNS = 88
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def draw() -> str:
    """The picture as SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "dim"), f'vouch check "{CLAIM}" \\'))
    console.print(Text(f'      --source-text "{SOURCE}"\n'))
    print_verdict(console, vouching.check(CLAIM, SOURCE))
    console.print()
    return picture(console, "vouch check")


def picture(console: Console, title: str) -> str:
    """What a console has recorded, as an SVG that refers to nothing outside itself: Rich fetches its font."""
    svg = console.export_svg(title=title, unique_id="vouch")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;]+;", f"font-family: {FONTS};", svg)
    return re.sub(r"<!--.*?-->\s*", "", svg)


if __name__ == "__main__":
    Path(__file__).with_name("verdict.svg").write_text(draw(), encoding="utf-8")
