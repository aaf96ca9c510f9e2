#!/bin/sh
# Name each base image by the digest that its tag has now. For releases, where docker reaches a registry of images.
set -eu
cd "${1:-$(dirname "$0")/../docs/deploy}"
for file in Containerfile space/Dockerfile compose.yaml; do
  for image in $(sed -nE 's/^(FROM|    image:) ((python|postgres):[a-z0-9.-]+).*/\2/p' "$file" | sort -u); do
    digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$image")
    sed -i -E "s/$image(@sha256:[0-9a-f]{64})?/$image@$digest/" "$file"
  done
done
