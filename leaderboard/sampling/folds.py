"""Questions divided into groups, so that nothing is predicted from verdicts on its own question."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def folds_of(questions: NDArray[np.int32], folds: int, seed: int) -> NDArray[np.int64]:
    """The group, 0…folds−1, of each battle; battles on one question share it."""
    present, codes = np.unique(questions, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(present))
    return (order % folds)[codes].astype(np.int64)
