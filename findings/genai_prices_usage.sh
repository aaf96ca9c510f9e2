#!/usr/bin/env bash
# genai-prices 0.2.3, extract_usage, on two valid usage reports.
#
# 1. Google's OpenAI-compatible endpoint counts thinking only in the total: 1,000 tokens read, 20 written, 1,920 in all.
#    Expected: 920 output tokens, as in Google's own format. Seen: 20, so 900 paid tokens are missed.
# 2. DeepSeek reports cached input as `prompt_cache_hit_tokens`.
#    Expected: 600 cached tokens, at a tenth of the price. Seen: none, so all input is priced in full.
#
# Exits 0 while both hold and 1 once either changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'genai-prices==0.2.3' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
from genai_prices import extract_usage

google = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1920}
own = {"promptTokenCount": 1000, "candidatesTokenCount": 20, "thoughtsTokenCount": 900, "totalTokenCount": 1920}
deepseek = {
    "prompt_tokens": 1000,
    "completion_tokens": 20,
    "total_tokens": 1020,
    "prompt_cache_hit_tokens": 600,
    "prompt_cache_miss_tokens": 400,
}


def usage(provider, flavor, model, **payload):
    return extract_usage({"model": model, "modelVersion": model, **payload}, provider_id=provider, api_flavor=flavor).usage


compatible = usage("google", "chat", "gemini-2.5-flash", usage=google).output_tokens
native = usage("google", "default", "gemini-2.5-flash", usageMetadata=own).output_tokens
cached = usage("deepseek", "chat", "deepseek-chat", usage=deepseek).cache_read_tokens
print(f"Google: {native} output tokens in its own format, {compatible} by its compatible endpoint.")
print(f"DeepSeek: {cached or 0} of 600 cached tokens are read.")
raise SystemExit(0 if (native, compatible, cached or 0) == (920, 20, 0) else 1)
PYTHON
