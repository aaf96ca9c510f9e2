#!/bin/sh
# Copy the files of a Docker Space into a folder, such as the clone of its repository: space/assemble.sh FOLDER
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: assemble.sh FOLDER, which must exist" >&2; exit 2; }
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../../.."
tar -c --exclude=__pycache__ --exclude='*.sqlite*' pyproject.toml requirements-runtime.lock LICENSE answer_arena.py hatch_build.py .streamlit .dockerignore \
    arena data judges leaderboard submissions | tar -x -C "$folder"
cp docs/deploy/space/Dockerfile docs/deploy/space/README.md "$folder/"
echo "Commit and push $folder; then set the variables that its README.md names."
