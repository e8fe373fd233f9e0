#!/bin/sh
# Builds ../echarts.min.js and its licence from the exact versions of
# package-lock.json, then prints the sum to compare with README.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/package.json "$here"/package-lock.json "$here"/entry.js "$work"
cd "$work"
npm ci --ignore-scripts --no-audit --no-fund --silent
banner='/*! Apache ECharts 6.1.0 (Apache-2.0) with zrender 6.1.0 (BSD-3-Clause) and tslib 2.3.0 (0BSD); see echarts.LICENSE.txt */'
node_modules/.bin/esbuild entry.js --bundle --minify --format=iife --target=es2020 \
	--legal-comments=none --banner:js="$banner" --log-level=warning --outfile="$here/../echarts.min.js"
{
	for f in echarts/NOTICE echarts/LICENSE zrender/LICENSE tslib/LICENSE.txt; do
		printf '==== %s ====\n\n' "$f"
		cat "node_modules/$f"
		printf '\n'
	done
	for f in node_modules/echarts/licenses/*; do
		printf '==== echarts/licenses/%s ====\n\n' "$(basename "$f")"
		cat "$f"
		printf '\n'
	done
} > "$here/../echarts.LICENSE.txt"
cd "$here/.."
sha256sum echarts.min.js
