"""``check_frames`` is what Spark's ``mapInPandas`` calls: an iterator of frames in, an iterator of frames out."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow
import pytest

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
    rows = pandas.DataFrame({
        "id": ["a", "b", "c"], "claim": ["It opened in 1973.", None, "It opened."], "source": [SOURCE, SOURCE, None],
        "response": [None, "It opened in 1937.", None],
    })  # fmt: skip
    records = FrameChecker("embedded:rules").check_frame(rows)
    assert [*records["kind"]] == ["verdict", "report", "unverified"]
    assert records["reason"][2] == "input"
    assert [*records["id"]] == ["a", "b", "c"]
