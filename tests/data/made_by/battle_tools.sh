#!/usr/bin/env bash
# Run by hand in a venv with arenakit==0.1.1 evalica==0.4.2 crowd-kit==1.4.2: FOLDER is tests/golden/battles.
set -euo pipefail
python - "$1" <<'E'
"""Write battles that arenakit 0.1.1, evalica 0.4.2 and crowd-kit 1.4.2 read; run by hand in a venv with them."""

import sys
from pathlib import Path

import evalica.__main__ as evalica
import pandas as pd
from arenakit.schema import load_battles
from crowdkit.aggregation import BradleyTerry

FOLDER = Path(sys.argv[1])
ITEMS = [("x", "y", won, f"i{at}", f"v{vote}") for at, won in enumerate("aaaaabbtttta") for vote in range(3)]
battles = pd.DataFrame(ITEMS, columns=["model_a", "model_b", "winner", "item_id", "voter_id"])
battles["winner"] = battles["winner"].replace({"t": "tie"})
battles.to_csv(FOLDER / "arenakit.csv", index=False)
sides = battles.rename(columns={"model_a": "left", "model_b": "right", "voter_id": "worker"})
sides["winner"] = sides["winner"].replace({"a": "left", "b": "right"})
sides[["left", "right", "winner"]].to_csv(FOLDER / "evalica.csv", index=False)
decided = sides[sides["winner"] != "tie"]
decided = decided.assign(label=decided["left"].where(decided["winner"] == "left", decided["right"]))
decided[["worker", "left", "right", "label"]].to_csv(FOLDER / "crowd-kit.csv", index=False)
with (FOLDER / "evalica.csv").open() as file:
    assert len(load_battles(FOLDER / "arenakit.csv")) == len(evalica.read_csv(file)[0])
BradleyTerry(n_iter=9).fit(pd.read_csv(FOLDER / "crowd-kit.csv"))
E
