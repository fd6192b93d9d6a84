"""A page of the report as a reader finds it: its elements, in order, with what was kept for the script unfolded."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "img", "link"}


@dataclass
class Element:
    """A tag with its attributes and all text inside it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""

    def has(self, name: str) -> bool:
        """Whether it is of a class."""
        return name in self.attributes.get("class", "").split()


@dataclass
class Reader(HTMLParser):
    """Collects elements; text counts for every element it stands in."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def elements_of(page: str) -> list[Element]:
    """All elements of a page; those in scripts of type text/html stand behind their script."""
    reader = Reader()
    reader.feed(page)
    found: list[Element] = []
    for element in reader.elements:
        found.append(element)
        if element.tag == "script" and element.attributes.get("type") == "text/html":
            found += elements_of(element.text)
    return found
