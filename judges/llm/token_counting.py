"""Token counts of requests: exact if the tokenizer is available offline, else an upper bound.

Byte-level and byte-fallback tokenizers use at most one token per byte, so that the length in bytes is an
upper bound for any model. OpenAI's two encodings come from files in the litellm package, which is not
imported.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import asdict
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from judges.llm.requests import Request

if TYPE_CHECKING:
    from tiktoken import Encoding

ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
MESSAGE_OVERHEAD = 8
REQUEST_OVERHEAD = 8
BYTES_PER_TOKEN = 4
CACHE_SIZE = 4_096

ENCODINGS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|chatgpt-|o[134](-|$)"), "o200k_base"),
    (re.compile(r"gpt-4|gpt-3\.5"), "cl100k_base"),
)
# Published patterns of the two encodings for splitting text before merging bytes.
SPLITTERS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"
        r"\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}


class TokenCounter:
    """Counts the tokens of requests, with a cache for recurring texts such as rubrics."""

    def __init__(self, folder: Path | None = None) -> None:
        self._files = EncodingFiles(folder)
        self._count = lru_cache(maxsize=CACHE_SIZE)(self._count_text)

    def bound(self, request: Request) -> int:
        """Return the maximum number of input tokens of a request."""
        return self._total(request, 1, self._files.encoding_of(request.model))

    def expected(self, request: Request) -> int:
        """Return the exact or estimated number of input tokens of a request."""
        return self._total(request, BYTES_PER_TOKEN, self._files.encoding_of(request.model))

    def text(self, model: str, text: str) -> int | None:
        """Return the number of tokens of a text; None without the model's tokenizer."""
        encoding = self._files.encoding_of(model)
        return None if encoding is None else self._count(encoding, text)

    def bytes(self, request: Request) -> int:
        """Return the maximum number of input tokens with any tokenizer."""
        return self._total(request, 1, None)

    def _total(self, request: Request, bytes_per_token: int, encoding: str | None) -> int:
        texts = [message.content for message in request.messages]
        if request.response_format is not None:
            texts.append(json.dumps(request.response_format.schema, default=dict))
        texts += [json.dumps(asdict(tool), default=dict) for tool in request.tools]
        texts += [f"{call.name}{call.arguments}" for item in request.messages for call in item.tool_calls]
        overhead = REQUEST_OVERHEAD + MESSAGE_OVERHEAD * len(texts)
        if encoding is None:
            return overhead + sum(-(-len(text.encode()) // bytes_per_token) for text in texts)
        return overhead + sum(self._count(encoding, text) for text in texts)

    def _count_text(self, encoding: str, text: str) -> int:
        return len(self._files.load(encoding).encode_ordinary(text))


class EncodingFiles:
    """Finds and loads tokenizer files."""

    def __init__(self, folder: Path | None = None) -> None:
        self._custom_folder = folder

    @cached_property
    def _folder(self) -> Path | None:
        if self._custom_folder is not None:
            return self._custom_folder
        spec = find_spec("litellm")
        if spec is None or find_spec("tiktoken") is None or not spec.submodule_search_locations:
            return None
        return Path(spec.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"

    @cached_property
    def _cached_files(self) -> dict[str, Path]:
        """Available files by encoding; a file's name is the hash of its URL."""
        if self._folder is None:
            return {}
        paths = {
            name: self._folder
            / hashlib.sha1(ADDRESS.format(name=name).encode(), usedforsecurity=False).hexdigest()
            for name in SPLITTERS
        }
        return {name: path for name, path in paths.items() if path.is_file()}

    def encoding_of(self, model: str) -> str | None:
        """Return the name of a model's encoding; None if it or its file is missing."""
        plain = model.rpartition("/")[2]
        for pattern, name in ENCODINGS:
            if pattern.match(plain):
                return name if name in self._cached_files else None
        return None

    def load(self, name: str) -> Encoding:
        """Load an encoding, cached for the process."""
        return _encoding(name, self._cached_files[name])


@cache
def _encoding(name: str, path: Path) -> Encoding:
    # Takes half a second.
    from tiktoken import Encoding  # noqa: PLC0415 - loads only when tokens are counted

    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    return Encoding(name=name, pat_str=SPLITTERS[name], mergeable_ranks=ranks, special_tokens={})
