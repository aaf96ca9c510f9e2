"""`arena corpora` through the application."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from arena.bootstrap import Arena


def test_corpus_is_built_once_and_listed(make_arena: Callable[..., Arena], tmp_path: Path) -> None:
    """Importing the same texts again builds nothing; the corpus finds what was imported."""
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "sky.txt").write_text("The sky is blue because air scatters short waves more.")
    (texts / "sea.txt").write_text("The sea is salty because rivers carry minerals into it.")
    corpora = make_arena().corpora
    assert corpora.add("nature", texts).built
    assert not corpora.add("nature", texts).built
    assert [(one.name, one.documents) for one in corpora.list()] == [("nature", 2)]
    found = corpora.open("nature").find("why is the sea salty", 1)
    assert "rivers" in found[0].text
