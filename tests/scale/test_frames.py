"""``check_frames`` is what Spark's ``mapInPandas`` calls: an iterator of frames in, an iterator of frames out."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow
import pytest

from vouching.errors import ConfigError, InputError
from vouching.scale import FrameChecker, check_frames, record_schema

pandas = pytest.importorskip("pandas")
SOURCE = "The bridge opened in 1973."


def test_each_frame_gives_a_frame_with_the_published_columns_as_it_comes() -> None:
    asked: list[int] = []

    def frames() -> Iterator[object]:
        for number, years in enumerate(((1937, 1973), (1974,))):
            asked.append(number)
            rows = [{"id": f"{number}-{year}", "claim": f"It opened in {year}.", "source": SOURCE} for year in years]
            yield pandas.DataFrame(rows)

    made = check_frames(frames(), "embedded:rules")
    assert asked == []
    first = next(made)
    assert asked == [0]  # a partition is never held as a whole
    second = next(made)
    assert next(made, None) is None
    assert [*first["id"], *second["id"]] == ["0-1937", "0-1973", "1-1974"]
    assert [*first["label"], *second["label"]] == ["Not Attributable", "Attributable", "Not Attributable"]
    for frame in (first, second):
        # Spark converts a frame by the schema that mapInPandas was given.
        assert pyarrow.Table.from_pandas(frame, schema=record_schema(), preserve_index=False).num_rows == len(frame)
        assert [*frame.columns] == record_schema().names


def test_rows_that_cannot_be_used_and_missing_cells_give_records_too() -> None:
    rows = pandas.DataFrame(
        {
            "id": ["a", "b", "c"],
            "claim": ["It opened in 1973.", None, "It opened."],
            "source": [SOURCE, SOURCE, None],
            "response": [None, "It opened in 1937.", None],
        }
    )
    records = FrameChecker("embedded:rules").check_frame(rows)
    assert [*records["kind"]] == ["verdict", "report", "unverified"]
    assert records["reason"][2] == "input"
    assert [*records["id"]] == ["a", "b", "c"]


def test_rows_without_ids_are_refused_since_two_batches_would_call_them_the_same() -> None:
    rows = pandas.DataFrame({"claim": ["It opened in 1973."], "source": [SOURCE]})
    frames = check_frames(iter([rows, rows]), "embedded:rules")
    with pytest.raises(
        InputError, match=r'have the columns claim, source, and no "id".*: add a column that is different'
    ):
        next(frames)
    # Engines ask for the columns with a batch of no rows.
    assert FrameChecker("embedded:rules").check_table(pyarrow.table({})).schema == record_schema()


def test_a_row_whose_id_is_null_has_a_record_that_says_so() -> None:
    rows = pandas.DataFrame({"id": ["a", None], "claim": ["It opened in 1973."] * 2, "source": [SOURCE] * 2})
    records = FrameChecker("embedded:rules").check_table(pyarrow.Table.from_pandas(rows)).to_pylist()
    assert [(one["id"], one["kind"], one["reason"]) for one in records] == [
        ("a", "verdict", None),
        (None, "unverified", "input"),
    ]
    assert records[1]["message"] == 'row 2 of its batch: the row has no "id"; its keys are claim, source'


def test_columns_to_keep_stand_beside_the_records_of_their_rows() -> None:
    rows = pandas.DataFrame(
        {
            "id": ["a", "b", "c"],
            "day": [3, None, 5],
            "claim": ["It opened in 1973.", "It opened in 1937.", None],
            "source": [SOURCE, "Another source.", SOURCE],
        }
    )
    [made] = check_frames([rows], "embedded:rules", keep=["day"])
    assert [*made.columns] == [*record_schema().names, "day"]
    assert [*made["day"].fillna(0)] == [3, 0, 5]
    assert [*made["id"]] == ["a", "b", "c"]
    with pytest.raises(InputError, match="and not 'week', which keep names"):
        next(check_frames([rows], "embedded:rules", keep=["week"]))
    with pytest.raises(ConfigError, match="keep='claim' is a column of the records too"):
        FrameChecker("embedded:rules", keep=["claim"])
