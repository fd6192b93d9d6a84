"""Tables of every form become rows with heads at exact offsets; HTML becomes Markdown in place."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.hostile import takes_linear_time
from vouching.text.layout import as_markdown, headings, table_rows, with_bars

CELLS = [["Plan", "Price"], ["Basic", "$10"], ["Pro", "$49"]]
FORMS = {
    "markdown": "| Plan | Price |\n|---|---|\n| Basic | $10 |\n| Pro | $49 |\n",
    "without outer bars": "Plan | Price\nBasic | $10\nPro | $49",
    "csv": "Plan,Price\nBasic,$10\nPro,$49",
    "semicolons": "Plan;Price\nBasic;$10\nPro;$49",
    "tabs": "Plan\tPrice\nBasic\t$10\nPro\t$49",
    "quoted": '"Plan","Price"\n"Basic","$10"\n"Pro","$49"',
    "html": "<table><tr><th>Plan</th><th>Price</th></tr>\n<tr><td>Basic</td><td>$10</td></tr><tr><td>Pro</td>\n"
    "<td><b>$49</b></td></tr></table>",
}


def read(text: str) -> list[list[tuple[str, str]]]:
    """Column head and text of each cell."""
    text = as_markdown(text)
    return [[(text[slice(*c.column)], text[c.start : c.end].strip()) for c in row.cells] for row in table_rows(text)]


@pytest.mark.parametrize("form", FORMS)
def test_a_table_is_read_in_every_form(form: str) -> None:
    assert read(FORMS[form]) == [[*zip(CELLS[0], row, strict=True)] for row in CELLS]


def test_the_first_row_holds_the_heads() -> None:
    assert [row.is_head for row in table_rows(FORMS["csv"])] == [True, False, False]


def test_a_first_row_of_values_is_no_head() -> None:
    text = "Basic,$10,3\nPro,$49,20\nTeam,$99,50"
    assert not any(row.is_head for row in table_rows(text))
    assert [cell.column for cell in table_rows(text)[0].cells] == [(0, 0)] * 3


def test_years_and_versions_may_be_heads() -> None:
    assert table_rows("Fee,2019,2020\nAdult,10,12\nChild,5,6")[0].is_head
    assert table_rows("Speed,4.8,5.0\nRead,10,12\nWrite,5,6")[0].is_head


def test_lines_of_key_and_value_are_rows_without_heads() -> None:
    text = "Prices\n\n- Basic: 10 dollars\n- Pro: 49 dollars\n\nNote: This is one line. It is prose."
    rows = table_rows(text)
    assert [[text[c.start : c.end] for c in row.cells] for row in rows] == [
        ["Basic", "10 dollars"],
        ["Pro", "49 dollars"],
    ]
    assert not any(row.is_head for row in rows)


@pytest.mark.parametrize(
    "text",
    [
        "It opened in May, at last.\nIt closed in June, too.\nIt fell down, later.",
        "One line, alone\nanother line without",
        "Dear all,\nplease come, if you can, today\nBye",
    ],
)
def test_prose_with_commas_is_no_table(text: str) -> None:
    assert table_rows(text) == []


def test_bars_separate_cells_at_the_same_offsets() -> None:
    text = "name,price,stock\nChair,40,7\nTable,120,3"
    assert with_bars(text, table_rows(text)) == text.replace(",", "|")


def test_headings_are_found_with_their_titles() -> None:
    text = as_markdown("<h2>Prices</h2><p>Free.</p><h4>Tours</h4><p>None.</p>")
    assert [text[start:end].strip() for start, end in headings(text)] == ["Prices", "Tours"]


@pytest.mark.parametrize(
    "text",
    [
        "<p>Open.</p><del>Closed.</del><p>Free.</p>",
        "<span hidden>Closed.</span>",
        "~~Closed.~~ Open.",
        '<div style="display: none">Closed.</div>',
        "<title>Closed.</title>",
        "<script>Closed.</script>",
    ],
)
def test_deleted_and_hidden_text_is_not_read(text: str) -> None:
    plain = as_markdown(text)
    assert "Closed" not in plain
    assert len(plain) == len(text)


@given(st.text(alphabet='<>/|,;:"\n\t #-tdrphable1.', max_size=80))
def test_offsets_stay_those_of_the_document(text: str) -> None:
    plain = as_markdown(text)
    assert len(plain) == len(text)
    rows = table_rows(plain)
    assert len(with_bars(plain, rows)) == len(text)
    for row in rows:
        assert 0 <= row.start <= row.end <= len(text)
        assert all(row.start <= cell.start <= cell.end <= row.end for cell in row.cells)
    assert all(a.end <= b.start for a, b in pairwise(rows))


@pytest.mark.parametrize(
    "piece",
    ["<", "|", "\n", ",", "<td>", "<tr>", "<tr", "<!--", "a,b.\n", "|a|b\n", "a: b\n", "# ", '"', "<del>", "~~a"],
)
def test_time_grows_with_the_length_only(piece: str) -> None:
    def read(text: str) -> None:
        plain = as_markdown(text + "</p></p>")
        table_rows(plain)
        headings(plain)

    assert takes_linear_time(read, piece, 400_000 // len(piece))
