from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from data.models import TokenScope
from tests.arena.conftest import play
from tests.browsing import Visitor
from tests.served import reader, served

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SYSTEMS = ("full", "short", "wrong")
LABELLED = "You have labelled every pair"


def _is_next(walk: Visitor, answers: str) -> bool:
    # Two answers may have the same beginning.
    return LABELLED in walk.text or f"{answers}\n" not in walk.text


def test_invited_person_labels_every_pair(filled: Callable[..., Arena], tmp_path: Path) -> None:
    walk = reader()
    arena = filled()
    play(arena, pairs="complete:1")
    arena.teams.add_account("ann", caller=OPERATOR)
    secret = arena.tokens.create(name="ann", scopes={TokenScope.READ}, account="ann", caller=OPERATOR).secret
    arena.labels.open("r", ["ann"])
    with served(arena.settings, tmp_path / "log") as url:
        walk.size(1440)
        walk.site = url
        walk.sign_in(secret)
        walk.find("h1", "Label pairs")
        labelled = 0
        while LABELLED not in walk.text:
            walk.find(".st-key-question-text h1", "What do we know of item")
            answers = walk.find("[class*=st-key-prose-answer]")
            assert not [name for name in SYSTEMS if name in walk.text]
            walk.rest()
            if labelled % 2:
                walk.press("t")
            else:
                walk.button("A is better")
            labelled += 1
            walk.until(partial(_is_next, walk, answers), "no next pair", seconds=20)
            walk.rest()
        walk.driver.delete_all_cookies()
        walk.go("/label")
        walk.see("No round is open for your labels")
    counts = arena.labels.show("r")
    assert counts["people"] == {"ann": labelled}
    assert counts["labels"]["tie"] == labelled // 2 > 0
    arena.close()
