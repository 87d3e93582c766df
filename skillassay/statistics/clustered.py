"""The standard error of a mean whose values hang together in clusters: the criteria or repeats of one case.

Owns the cluster-robust forms. Refuses to make a standard error of a single cluster, which has nothing to vary against.
Unit: that of the values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredMean:
    """The mean of all values, each with weight one, and its standard errors over clusters.

    ``cr0`` and ``cr1`` are None, with the ``reason``, where they do not exist.
    """

    mean: float | None
    n_values: int
    n_clusters: int
    cr0: float | None
    cr1: float | None
    reason: str | None = None


def clustered_mean(clusters: Sequence[Sequence[float]]) -> ClusteredMean:
    """The mean over all values and its cluster-robust standard error; empty clusters do not count.

    CR0: √(Σ_g (Σ_i (x_gi - mean))²) / N. Source: K.-Y. Liang & S. Zeger, Biometrika 73 (1986); for evaluations E.
    Miller, "Adding error bars to evals", arXiv:2411.00640 (2024), section 2.2. CR1 is CR0 times √(G / (G - 1)), G
    clusters, since CR0 is too small for few. Both are for large G: below some 30 clusters a normal interval of them is
    too narrow. No clusters: all None. One cluster: a mean and no error. Equal values: an error of 0, which is a figure
    of the sample and no certainty about the population.
    """
    kept = [cluster for cluster in clusters if cluster]
    n_values, n_clusters = sum(map(len, kept)), len(kept)
    if n_values == 0:
        return ClusteredMean(mean=None, n_values=0, n_clusters=0, cr0=None, cr1=None, reason="nothing was measured")
    mean = math.fsum(value for cluster in kept for value in cluster) / n_values
    if n_clusters == 1:
        reason = "one cluster says nothing of how clusters vary"
        return ClusteredMean(mean=mean, n_values=n_values, n_clusters=1, cr0=None, cr1=None, reason=reason)
    scores = (math.fsum(value - mean for value in cluster) for cluster in kept)
    cr0 = math.sqrt(math.fsum(score * score for score in scores)) / n_values
    cr1 = cr0 * math.sqrt(n_clusters / (n_clusters - 1))
    return ClusteredMean(mean=mean, n_values=n_values, n_clusters=n_clusters, cr0=cr0, cr1=cr1)
