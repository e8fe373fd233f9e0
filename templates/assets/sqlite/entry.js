// What the query page uses of SQLite's WebAssembly build: its initializer.
export { default } from '@sqlite.org/sqlite-wasm'
