"""What several attempts at one case are worth: pass@k and pass^k, each unbiased and as an exact fraction.

Owns the two hypergeometric forms. Refuses counts that cannot be, and gives no figure for fewer attempts than k.
"""

from __future__ import annotations

import math
from fractions import Fraction


def pass_at_k(passed: int, n: int, k: int) -> Fraction | None:
    """The chance that at least one of ``k`` attempts passes, from ``passed`` of ``n``; None for fewer than k attempts.

    Unbiased: the share of all k-subsets of the attempts that hold a pass, 1 - C(n-c, k) / C(n, k).
    Source: M. Chen et al., "Evaluating large language models trained on code", arXiv:2107.03374 (2021), eq. 1.
    """
    _require_attempts(passed, n, k)
    return 1 - Fraction(math.comb(n - passed, k), math.comb(n, k)) if n >= k else None


def pass_all_k(passed: int, n: int, k: int) -> Fraction | None:
    """pass^k, the chance that all of ``k`` attempts pass, from ``passed`` of ``n``; None for fewer than k attempts.

    Unbiased: the share of all k-subsets of the attempts without a failure, C(c, k) / C(n, k).
    Source: S. Yao et al., "tau-bench", arXiv:2406.12045 (2024), section 4.
    """
    _require_attempts(passed, n, k)
    return Fraction(math.comb(passed, k), math.comb(n, k)) if n >= k else None


def _require_attempts(passed: int, n: int, k: int) -> None:
    if not 0 <= passed <= n or k < 1:
        raise ValueError(f"{passed} of {n} attempts, k = {k}")
