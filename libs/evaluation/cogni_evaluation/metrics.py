"""How good one ranking is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from statistics import fmean, variance

import numpy as np

from cogni_kernel import DocumentId


@dataclass(frozen=True, slots=True)
class Scores:
    """One ranking against what was wanted; each 0 to 1.

    Attributes:
        recall: The share of the wanted documents among the first k.
        precision: The share of wanted ones among what came back, at most k.
        reciprocal_rank: 1 over the place of the first wanted one, 0 where none is among the first k.
        ndcg: Discounted gain of the grades over the best possible.
    """

    recall: float
    precision: float
    reciprocal_rank: float
    ndcg: float


@dataclass(frozen=True, slots=True)
class ScoreWithVariance:
    """A mean, and how far it moved when everything was asked again.

    Attributes:
        variance: Of the means of the samples; 0 where there is one sample, which has no error bar.
    """

    mean: float
    variance: float
    samples: int

    @staticmethod
    def of(means: Sequence[float]) -> "ScoreWithVariance":
        """Return the mean of the samples' means.

        Raises:
            StatisticsError: There are none.
        """
        return ScoreWithVariance(
            fmean(means), variance(means) if len(means) > 1 else 0.0, len(means)
        )


NOTHING = Scores(0.0, 0.0, 0.0, 0.0)
EVERYTHING = Scores(1.0, 1.0, 1.0, 1.0)


def scored(found: Sequence[DocumentId], wanted: Mapping[DocumentId, int], k: int) -> Scores:
    """Return the scores of the first `k` of `found`, best first, each document counted once.

    Where nothing is wanted, finding nothing is right and anything else is wrong.
    """
    ranked = list(dict.fromkeys(found))[:k]
    if not wanted or not ranked:
        return NOTHING if wanted or ranked else EVERYTHING
    hits = [place for place, document in enumerate(ranked, start=1) if document in wanted]
    return Scores(
        recall=len(hits) / len(wanted),
        precision=len(hits) / len(ranked),
        reciprocal_rank=1 / hits[0] if hits else 0.0,
        ndcg=_ndcg(ranked, wanted, k),
    )


def _ndcg(ranked: Sequence[DocumentId], wanted: Mapping[DocumentId, int], k: int) -> float:
    """Fill the ranking up to k with nothing, so that what was not found is never within it.

    The library is loaded here: it takes a second, and whoever only asks a question has no use for it.
    """
    metrics = import_module("sklearn.metrics")
    missed = [grade for document, grade in wanted.items() if document not in set(ranked)]
    gains = [wanted.get(document, 0) for document in ranked]
    gains += [0] * (k - len(ranked) + 1) + missed
    places = np.arange(len(gains), 0, -1)
    return float(metrics.ndcg_score([gains], [places], k=k, ignore_ties=True))
