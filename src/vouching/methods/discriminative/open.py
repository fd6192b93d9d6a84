"""Scorers, verifiers and rankers by name, as on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from vouching.embedded.verify import MODELS, is_embedded, open_embedded
from vouching.errors import ConfigError
from vouching.judging.calibration import find_calibration
from vouching.judging.verifier import ThresholdConfig
from vouching.methods.discriminative.generative import PROMPTS, GenerativeRanker
from vouching.methods.discriminative.input import Compress, Find
from vouching.methods.discriminative.published.catalog import CATALOG
from vouching.methods.discriminative.rank import Ranker, ScoringRanker
from vouching.methods.discriminative.scorer import ClaimScorer, Closable, EmbeddedScorer, Scorer
from vouching.methods.discriminative.verify import DiscriminativeVerifier
from vouching.models.base import Model
from vouching.models.decision_shapes import FORM as DECISION_FORM
from vouching.prompts import Wording, check_wording
from vouching.search.agent import SearchAgent
from vouching.search.base import SearchEngine
from vouching.search.compress import MAX_TOKENS, ModelCompressor, SentenceCompressor
from vouching.search.steps import QUERIES, StepSearch
from vouching.types import RankMode

NO_EVIDENCE_MODES = ("no-search", "generative")
"""Modes that use no evidence."""
KINDS = ("discriminative", "factscore", "decision", *CATALOG)
"""The kinds of scorers that do not ship."""
SCORERS = (
    "embedded, embedded:small, embedded:rules, embedded:FOLDER (a round of vouch evolve), "
    "discriminative:PATH[#ADAPTER] (what recipes/rank/train.py saved), factscore:MODEL, "
    f"{DECISION_FORM}, {', '.join(one.form for one in CATALOG.values())}"
)
"""The forms of a scorer's name."""


def is_scorer(name: str) -> bool:
    """Whether a name is that of a scorer which does not ship; see ``SCORERS``."""
    return name.partition(":")[0] in KINDS


def open_scorer(name: str, max_tokens: int | None = None) -> Scorer:
    """A scorer by its name; ``max_tokens`` limits the replies of a language model that splits answers into facts.

    Raises:
        ConfigError: a name not in the form of ``SCORERS``, or a folder without such weights.
        MissingExtraError: a library it needs is not installed.
    """
    kind, _, rest = name.partition(":")
    path, _, second = rest.partition("#")
    if is_embedded(name):
        return EmbeddedScorer(open_embedded(name))
    if not path or not is_scorer(name):
        from vouching.models.open import nearest_name

        near = nearest_name(name, (*MODELS, *KINDS))
        raise ConfigError(f"unknown scorer {name!r}; expected one of {SCORERS}{near}")
    if kind == "discriminative":
        from vouching.methods.discriminative.model import TrainedScorer

        return TrainedScorer(path, second or None)
    if kind == "factscore":
        return _fact_score(rest, max_tokens)
    if kind == "decision":
        from vouching.methods.discriminative.published.decision import DecisionScorer
        from vouching.models.open import open_model

        return DecisionScorer(name, open_model(name))
    return _published(kind, rest, path, second or None)


def open_discriminative(
    name: str, config: ThresholdConfig | None = None, compress: Compress | None = None
) -> DiscriminativeVerifier:
    """The verifier on a scorer, with its calibration from ``VOUCH_CALIBRATION``.

    ``compress`` shortens the sources for a scorer that is shown compressed ones. Raises ConfigError for an unknown
    name, or a scorer that gives no probabilities and has no calibration.
    """
    threshold = (config or ThresholdConfig()).threshold
    return DiscriminativeVerifier(open_claim_scorer(name, compress), threshold)


def open_claim_scorer(name: str, compress: Compress | None = None) -> ClaimScorer:
    """A scorer of claims by its name; it is shown the sources as in training. Raises as :func:`open_scorer`."""
    scorer = open_scorer(name)
    return ClaimScorer(scorer, scorer.shown or "full", compress or SentenceCompressor().compress)


def open_ranker(
    score_model: str = "embedded:rules",
    mode: RankMode | None = None,
    *,
    search_model: str | Model | None = None,
    engines: Sequence[SearchEngine] = (),
    queries: int | None = None,
    wording: Wording = "ours",
    max_tokens: int | None = None,
) -> Ranker:
    """A ranker by the names of its parts. Closing it closes the models and the engines.

    Args:
        score_model: a scorer, see ``SCORERS``; for the modes "generative", "agentic" and "points" a language model, see
            :func:`vouching.models.open.open_model`.
        mode: how answers are ranked; None for what suits the scorer.
        search_model: a language model that searches and compresses; None does both by words.
        engines: the search engines; without any, sources must come with the answers.
        queries: maximum number of queries; None for the default.
        wording: of the language models' prompts: ours, or as DiVA prints them (App. D).
        max_tokens: token limit of each of their replies; None for the default of each.
    """
    from vouching.models.open import is_model, open_model

    check_wording(wording)
    searcher = open_model(search_model) if isinstance(search_model, str) else search_model
    find, compress, owned = open_search(searcher, engines, queries, wording, max_tokens)
    if mode in PROMPTS:
        if is_embedded(score_model) or is_scorer(score_model):
            raise ConfigError(
                f"mode {mode} requires a language model, got the scorer {score_model}: pass a language model with "
                "--score-model, such as http://localhost:8000/v1#name"
            )
        same = searcher is not None and score_model == search_model
        model = searcher if same and searcher is not None else open_model(score_model)
        return GenerativeRanker(model, mode, find=find, owned=owned, wording=wording, max_tokens=max_tokens)
    if wording == "paper" and searcher is None:
        raise ConfigError("DiVA's prompts are for language models: pass --search-model, or a mode that asks a model")
    if is_model(score_model):
        raise ConfigError(
            f"{score_model} is a language model and requires mode generative, agentic or points, got {mode or 'none'}"
        )
    scorer = open_scorer(score_model, max_tokens)
    calibration = find_calibration(scorer.name)
    return ScoringRanker(scorer, mode, find=find, compress=compress, calibration=calibration, owned=owned)


def open_search(
    searcher: Model | None,
    engines: Sequence[SearchEngine],
    queries: int | None = None,
    wording: Wording = "ours",
    max_tokens: int | None = None,
) -> tuple[Find | None, Compress, list[Closable]]:
    """A search of the engines or None without any, a compressor of its results, and what to close with them.

    A language model ``searcher`` does both; None does both by words.
    """
    compress: Compress = (
        ModelCompressor(searcher, max_tokens or MAX_TOKENS, wording=wording).compress
        if searcher
        else SentenceCompressor().compress
    )
    if not engines:
        return None, compress, [searcher] if searcher else []
    limit = QUERIES if queries is None else queries
    if searcher is not None:
        agent = SearchAgent(searcher, engines, turns=limit, max_tokens=max_tokens or MAX_TOKENS, wording=wording)
        return agent.search, compress, [agent]
    # No verifier: a short answer soon occurs in some passage, which would end the search before its evidence.
    steps = StepSearch(engines, queries=limit)
    return steps.search, compress, [steps]


def _published(kind: str, rest: str, path: str, second: str | None) -> Scorer:
    from vouching.models.open import is_model, open_model

    if is_model(rest):
        if not CATALOG[kind].served:
            raise ConfigError(f"{kind} is not a language model: expected {CATALOG[kind].form}, got {rest}")
        from vouching.methods.discriminative.published.served import ServedScorer

        return ServedScorer(kind, open_model(rest))
    if not CATALOG[kind].local:
        raise ConfigError(f"{kind} is a language model: name where it runs, as in {CATALOG[kind].form}, got {rest}")
    if kind == "hhem":
        from vouching.methods.discriminative.published.hhem import open_hhem

        return open_hhem(path, second)
    if kind == "lettuce":
        from vouching.methods.discriminative.published.lettuce import LettuceDetect

        return LettuceDetect(path)
    from vouching.methods.discriminative.published.classifiers import open_classifier

    return open_classifier(kind, path, second)


def _fact_score(rest: str, max_tokens: int | None) -> Scorer:
    from vouching.methods.discriminative.factscore import FactScore, split_by_model, split_sentences

    if is_embedded(rest):
        return FactScore(split_sentences, open_embedded(rest), rest)
    from vouching.methods.table import METHODS
    from vouching.models.open import open_model

    model, judge = open_model(rest), METHODS["structured"]
    settings = judge.load("settings")(**judge.variants["label"], max_tokens=max_tokens)
    return FactScore(split_by_model(model, max_tokens), judge.load("verifier")(model, settings), model.name)
