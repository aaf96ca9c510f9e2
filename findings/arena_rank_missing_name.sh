#!/usr/bin/env bash
# arena-rank 0.1.1, `PairDataset.from_pandas`, on battles, twenty of which have an empty cell for the second system's name.
#
# Expected: such battles are rejected or dropped.
# Seen: the empty name gets the code -1, which is the alphabetically last system: `z`, which lost 6 of its 10 battles, is credited with
# all twenty wins and moves from third to first.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'arena-rank==0.1.1' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset

battles = [("a", "b", "model_a")] * 6 + [("a", "b", "model_b")] * 4 + [("b", "z", "model_a")] * 6 + [("b", "z", "model_b")] * 4


def ratings(rows):
    data = PairDataset.from_pandas(pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]))
    board = BradleyTerry(n_competitors=data.n_competitors).compute_ratings_and_cis(data)
    return {name: round(float(rating)) for name, rating in zip(board["competitors"], board["ratings"])}


whole, gaps = ratings(battles), ratings(battles + [("a", None, "model_b")] * 20)
print(f"Ratings: {whole} of complete battles, {gaps} with twenty of `a` against an empty name.")
raise SystemExit(0 if whole == {"a": 1070, "b": 1000, "z": 930} and gaps == {"a": 850, "b": 1000, "z": 1150} else 1)
PYTHON
