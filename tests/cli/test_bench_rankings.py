"""``vouch bench run`` on sets of answers to be ranked: what it writes and prints, and which options it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench.ranking_samples import write_biographies, write_fgveribench
from tests.bench.samples import write_rows
from tests.cli.test_bench import bench, refused
from vouching.bench.rankings import PARTS
from vouching.search.index_writer import create_index
from vouching.types import Source


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_biographies(write_fgveribench(tmp_path / "data"))


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """What both questions of each part are about."""
    with create_index(tmp_path / "bridges") as writer:
        for part in PARTS:
            for number in range(2):
                text = f"Bridge {number} of {part} opened in {1900 + number}."
                writer.add(Source(text, f"{part}-{number}", f"Bridge {number} of {part}"))
        writer.add(Source("Ada built a mill. Ada sang.", "ada", "Ada"))
    return tmp_path / "bridges"


def results(out: Path) -> dict[str, Any]:
    return json.loads((out / "results.json").read_text(encoding="utf-8"))


def test_a_run_ranks_answers_and_tells_figures_beside_baselines(data: Path, index: Path, tmp_path: Path) -> None:
    run = ("run", "fgveribench", "--model", "embedded:rules", "--index", index, "--out", tmp_path / "out")
    result = bench(*run, data=data, columns=140)
    assert result.exit_code == 0, result.stderr
    found = results(tmp_path / "out")["sets"]["fgveribench"]
    # The year is in the index, so the right answer comes first everywhere; both others have nothing to show.
    assert found["metrics"]["p_at_1"]["estimate"] == 1.0
    assert found["found"]["both"] == 1.0
    assert list(found["parts"]) == list(PARTS)
    assert "mean, multi-hop" in result.stdout
    assert "Tau by number of answers that the evidence supports: not measured" in result.stdout
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "DiVA-Qwen3-4B" in page
    assert "not measured" in page
    again = bench(*run, "--resume", data=data)
    assert again.exit_code == 0
    assert results(tmp_path / "out")["settings"]["mode"] == "full"


def test_biographies_are_scored_fact_by_fact(data: Path, index: Path, tmp_path: Path) -> None:
    result = bench(
        "run",
        "fgveribench_long",
        "--score-model",
        "embedded:rules",
        "--index",
        index,
        "--out",
        tmp_path / "out",
        data=data,
    )
    assert result.exit_code == 0, result.stderr
    [line] = (tmp_path / "out/rows/fgveribench_long.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["scores"][1] > json.loads(line)["scores"][0]
    assert "one of the 160 rows has an empty answer" in result.stdout


def test_one_of_ones_own_answers_is_chosen(data: Path, index: Path, tmp_path: Path) -> None:
    asked = {"id": "a", "question": "When did bridge 1 of nq open?", "reference": "in 1901"}
    write_rows(data / "best_of_n" / "mine.jsonl", [{**asked, "answers": ["in 1950", "in 1901"]}])
    run = ("run", "best_of_n", "--model", "embedded:rules", "--index", index, "--out", tmp_path / "out")
    assert bench(*run, data=data).exit_code == 0
    found = results(tmp_path / "out")["sets"]["best_of_n"]
    # "in 1950" has "in" of "in 1901": F1 .5. The other one is chosen.
    assert [found["token_f1"][key]["estimate"] for key in ("chosen", "random", "oracle")] == [1.0, 0.75, 1.0]
    assert found["metrics"] is None


def test_a_question_for_which_nothing_is_found_counts_as_wrong_and_the_command_says_so(
    data: Path, tmp_path: Path
) -> None:
    with create_index(tmp_path / "empty") as writer:
        writer.add(Source("Zebras graze.", "zebra", "Zebra"))
    asked = (
        "run",
        "fgveribench",
        "--model",
        "embedded:rules",
        "--index",
        tmp_path / "empty",
        "--out",
        tmp_path / "out",
    )
    result = bench(*asked, data=data)
    assert result.exit_code == 3
    assert "rows without a ranking: 12; they count as wrong" in result.stderr
    found = results(tmp_path / "out")["sets"]["fgveribench"]
    assert found["why_failed"] == {"no_evidence": 12}
    assert found["metrics"]["tau"]["estimate"] == -1.0


def test_two_runs_are_compared_on_the_same_rankings(data: Path, index: Path, tmp_path: Path) -> None:
    with create_index(tmp_path / "empty") as writer:
        writer.add(Source("Zebras graze.", "zebra", "Zebra"))
    for name, found in (("worse", tmp_path / "empty"), ("better", index)):
        bench("run", "fgveribench", "--model", "embedded:rules", "--index", found, "--out", tmp_path / name, data=data)
    result = bench("compare", tmp_path / "worse", tmp_path / "better", "--json", data=data)
    both = json.loads(result.stdout)["sets"]["fgveribench"]
    # Where nothing is found every ranking is wrong, P@1 0 and tau -1; with the index the right answer is first.
    assert (both["all rows"]["p_at_1"]["first"], both["all rows"]["p_at_1"]["second"]) == (0.0, 1.0)
    assert both["general"]["tau"]["difference"]["estimate"] == both["general"]["tau"]["second"] + 1
    assert both["multi-hop"]["p_at_1"]["difference"]["estimate"] == 1.0
    shown = bench("compare", tmp_path / "worse", tmp_path / "better", data=data, columns=140)
    assert "fgveribench, multi-hop" in shown.stdout
    assert bench("compare", tmp_path / "better", data, data=data).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ("fgveribench", "wice"),
            "has answers to rank, but wice has claims to judge: run them separately",
        ),
        (("fgveribench", "fgveribench_lon"), "did you mean 'fgveribench_long'?"),
        (
            ("fgveribench",),
            "pass --index PATH or --web ENGINE, or --mode no-search or --mode generative, which need none",
        ),
        (("fgveribench", "--mode", "generative", "--index", "x"), "uses no evidence"),
        (
            ("fgveribench", "--jobs", "2", "--index", "x"),
            "--jobs cannot be used here: fgveribench contains answers to rank",
        ),
        (("fgveribench", "--index", "x", "--score-model", "minicheck"), "unknown scorer 'minicheck'"),
        (("wice", "--index", "x"), "--index cannot be used here: wice contains claims to judge"),
        (("wice", "--mode", "full"), "--mode cannot be used here: wice contains claims to judge"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    arguments: tuple[str, ...], complaint: str, data: Path, index: Path, tmp_path: Path
) -> None:
    placed = [str(index) if one == "x" else one for one in arguments]
    assert complaint in refused("run", *placed, "--out", tmp_path / "out", data=data)
    assert not (tmp_path / "out").exists()


def test_list_and_validate_know_these_sets_too(data: Path) -> None:
    listed = bench("list", data=data)
    assert "fgveribench: three answers to each question from six sets" in listed.stdout
    assert "12 questions" in listed.stdout
    result = bench("validate", "fgveribench", "fgveribench_long", data=data)
    assert result.exit_code == 0
    assert result.stdout == "fgveribench, test: valid\nfgveribench_long, test: valid\n"
