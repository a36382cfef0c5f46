#!/usr/bin/env bash
# Copies the libraries from npm: web/vendor/update.sh PREACT HTM UPLOT, three versions. Change the versions in README.md as well.
set -euo pipefail
cd "$(dirname "$0")"
[ $# -eq 3 ] || { sed -n 2p "$0"; exit 2; }

from=$(mktemp -d)
trap 'rm -rf "$from"' EXIT
npm install --silent --ignore-scripts --no-save --prefix "$from" "preact@$1" "htm@$2" "uplot@$3"
from=$from/node_modules

cp "$from/preact/LICENSE" preact/
cp "$from/preact/dist/preact.mjs" preact/preact.js
sed 's#from *"preact"#from"./preact.js"#' "$from/preact/hooks/dist/hooks.mjs" >preact/hooks.js
cp "$from/htm/LICENSE" htm/
cp "$from/htm/dist/htm.module.js" htm/htm.js
cp "$from/uplot/LICENSE" "$from/uplot/dist/uPlot.min.css" uplot/
cp "$from/uplot/dist/uPlot.esm.js" uplot/uPlot.js
sed -i '/sourceMappingURL/d' preact/*.js # the maps are not copied
