"""The losses against numbers worked out by hand, and folding against the runtime's."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from recipes.encoder.model import error_loss, fold, ranking_loss, relation_loss, token_loss
from vouching.encoder.folding import WindowOutputs
from vouching.encoder.folding import fold as fold_at_run_time

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")

LOGS = torch.log(torch.tensor([[0.7, 0.2, 0.1], [0.5, 0.25, 0.25]]))


def test_a_label_that_allows_two_relations_counts_the_sum_of_both() -> None:
    allowed = torch.tensor([[True, False, False], [False, True, True]])
    # -(1 * ln .7 + 2 * ln(.25 + .25)) / 2 rows
    loss = relation_loss(LOGS, allowed, torch.tensor([1.0, 2.0]))
    assert float(loss) == pytest.approx(-(log(0.7) + 2 * log(0.5)) / 2)


def test_supported_and_unsupported_tokens_count_alike_and_unmarked_ones_not_at_all() -> None:
    logits = torch.tensor([[2.0, 0.0, -1.0], [3.0, 9.0, 9.0]])
    marks = torch.tensor([[1, 1, 0], [0, -1, -1]])
    supported = (log(1 + exp(-2)) + log(2)) / 2
    unsupported = (log(1 + exp(-1)) + log(1 + exp(3))) / 2
    assert float(token_loss(logits, marks)) == pytest.approx((supported + unsupported) / 2)


def test_the_error_type_is_learned_from_rows_where_it_is_known() -> None:
    logits = torch.tensor([[0.0] * 6, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    # the first row's type is unknown; the second's is the first: -ln(e / (e + 5))
    assert float(error_loss(logits, torch.tensor([-1, 0]))) == pytest.approx(-log(exp(1) / (exp(1) + 5)))


def test_a_pair_loses_by_how_little_the_claim_is_above_its_error() -> None:
    # odds: .7/.3 and .5/.5; z_claim - z_error = ln(7/3), loss = ln(1 + 3/7)
    assert float(ranking_loss(LOGS, torch.tensor([[0, 1]]))) == pytest.approx(log(1 + 3 / 7))
    assert float(ranking_loss(LOGS, torch.tensor([[1, 0]]))) == pytest.approx(log(1 + 7 / 3))


@pytest.mark.parametrize(
    "loss",
    [
        lambda x: token_loss(x, torch.full((2, 3), -1)),
        lambda x: error_loss(x, torch.full((2,), -1)),
        lambda x: ranking_loss(x, torch.zeros((0, 2), dtype=torch.int64)),
    ],
    ids=["token", "error", "ranking"],
)
def test_a_part_without_rows_is_zero_and_has_a_gradient(loss: object) -> None:
    logits = torch.zeros((2, 3), requires_grad=True)
    found = loss(logits)  # type: ignore[operator]
    found.backward()
    assert float(found.detach()) == 0.0
    assert (logits.grad == 0).all()


def test_large_logits_give_a_finite_loss() -> None:
    logits = torch.tensor([[1000.0, -1000.0]])
    assert float(token_loss(logits, torch.tensor([[0, 1]]))) == pytest.approx(1000.0)


def test_training_folds_windows_as_the_runtime_does() -> None:
    random = np.random.default_rng(0)
    relation, error = random.normal(size=(5, 3)).astype(np.float32), random.normal(size=(5, 6)).astype(np.float32)
    support = random.normal(size=(5, 8)).astype(np.float32)
    state = np.ones((3, 1), np.float32)
    # two rows: windows 0, 1, 2 and windows 3, 4; claims of three tokens
    windows = torch.tensor([[0, 1, 2], [3, 4, 3]])
    ours = fold(torch.from_numpy(relation), torch.from_numpy(support), torch.from_numpy(error), windows, 3)
    for row, numbers in enumerate(([0, 1, 2], [3, 4])):
        outputs = [WindowOutputs(0, relation[i], error[i], support[i, 1:4], state, state) for i in numbers]
        theirs = fold_at_run_time(outputs)
        assert theirs is not None
        assert ours.relation[row].exp().numpy() == pytest.approx(theirs.relation, abs=1e-5)
        assert ours.support[row].sigmoid().numpy() == pytest.approx(theirs.support, abs=1e-5)
        assert ours.error_type[row].softmax(0).numpy() == pytest.approx(theirs.error_type, abs=1e-5)
