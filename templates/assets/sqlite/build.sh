#!/bin/sh
# Builds ../sqlite3.min.js and copies ../sqlite3.wasm from the exact versions of
# package-lock.json, then prints the sums to compare with README.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/package.json "$here"/package-lock.json "$here"/entry.js "$work"
cd "$work"
npm ci --ignore-scripts --no-audit --no-fund --silent
banner='/*! SQLite 3.54.1 (public domain) compiled with Emscripten (MIT), wrapped by @sqlite.org/sqlite-wasm 3.54.1-build1 (Apache-2.0); see sqlite3.LICENSE.txt */'
node_modules/.bin/esbuild entry.js --bundle --minify --format=esm --target=es2022 \
	--legal-comments=none --banner:js="$banner" --log-level=warning --outfile="$here/../sqlite3.min.js"
cp node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm "$here/../sqlite3.wasm"
chmod 644 "$here/../sqlite3.wasm"
cd "$here/.."
sha256sum sqlite3.min.js sqlite3.wasm
