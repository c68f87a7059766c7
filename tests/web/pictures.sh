#!/bin/bash
# Makes the pictures of README.md, docs/look.md and docs/tutorial.md again, docs/*.png: runs the commands of these pages
# that lead to them, and takes what pictures.js says of the pages that they wrote.
# usage: pictures.sh <heed program> <shared data> <work folder>
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
heed=$(realpath "$1") shared=$(realpath "$2")
mkdir -p "$3"
work=$(cd "$3" && pwd)
skip() { echo "pictures: $*"; exit 1; }
source "$here/browser.sh"

heed() { "$heed" "$@"; }
pages=$work/pages
rm -rf "$pages"
mkdir "$pages"
cd "$pages"
ln -s "$shared/weights/minilm" all-MiniLM-L6-v2
ln -s "$shared/weights/bert-tiny-toxicity" .
commands=$(cd "$project" && { grep -h '^\$ heed look' README.md docs/look.md; grep '^\$ heed' docs/tutorial.md; })
while IFS= read -r command; do
    echo "$command"
    eval "${command#\$ }" > /dev/null
done <<< "$commands"
node "$here/pictures.js" "$browser" "$pages" "$project/docs"
