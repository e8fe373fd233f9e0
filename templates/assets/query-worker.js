// Holds the database of the query page, and answers queries of it. It is a
// module worker, so that the page itself needs neither SQLite nor permission to
// compile WebAssembly, and can end it at any moment.
//
//   page → worker   {do: 'open', engine, wasm, url, bytes, sha256}
//                   {do: 'run', sql, ms, rows, values}
//   worker → page   {is: 'loading', done} bytes so far, {is: 'open', checked}
//                   {is: 'answer', columns, rows, ms, more, late}, {is: 'failed', text}
let sqlite, db, loaded = 0

// Nothing is stored in the browser.
globalThis.sqlite3ApiConfig = { disable: { vfs: { kvvfs: true, opfs: true, 'opfs-sahpool': true, 'opfs-wl': true } } }

// read reads a stream to its end, which must come within limit bytes.
const read = async (stream, limit, tell) => {
  const all = new Uint8Array(limit)
  let n = 0
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read()
    if (done) return all.subarray(0, n)
    if (n + value.length > limit) throw new Error('There is more of it than this page says. Reload the page.')
    all.set(value, n)
    n += value.length
    tell?.(value.length)
  }
}

const download = async (url, limit) => {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`The download failed with status ${answer.status}. Reload the page: there may be a newer one.`)
  return read(answer.body, limit, n => postMessage({ is: 'loading', done: loaded += n }))
}

const start = async ({ engine, wasm, wasmBytes }) => {
  const [{ default: init }, wasmBinary] = await Promise.all([import(engine), download(wasm, wasmBytes)])
  sqlite = await init({ wasmBinary })
}

// fetched returns the database, unpacked and checked. Some servers unpack what
// ends in .gz on the way.
const fetched = async ({ url, packed, bytes, sha256 }) => {
  let file = await download(url, Math.max(packed, bytes))
  if (file[0] == 0x1f && file[1] == 0x8b) {
    file = await read(new Blob([file]).stream().pipeThrough(new DecompressionStream('gzip')), bytes)
  }
  if (!globalThis.crypto?.subtle) return { file, checked: false } // the page came over plain HTTP
  const sum = Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', file)), b => b.toString(16).padStart(2, '0')).join('')
  if (sum != sha256) throw new Error(`The file is not the one this page describes: its SHA-256 is ${sum}. Reload the page: there may be a newer one.`)
  return { file, checked: true }
}

const open = async order => {
  const [{ file, checked }] = await Promise.all([fetched(order), start(order)])
  const { capi, wasm, oo1 } = sqlite
  db = new oo1.DB(':memory:')
  const at = wasm.allocFromTypedArray(file)
  db.checkRc(capi.sqlite3_deserialize(db.pointer, 'main', at, file.length, file.length,
    capi.SQLITE_DESERIALIZE_READONLY | capi.SQLITE_DESERIALIZE_FREEONCLOSE))
  capi.sqlite3_limit(db.pointer, capi.SQLITE_LIMIT_LENGTH, 1e6)
  capi.sqlite3_limit(db.pointer, capi.SQLITE_LIMIT_ATTACHED, 0)
  postMessage({ is: 'open', checked })
}

// run answers a query, or as much of it as fits into the limits.
const run = ({ sql, ms, rows: limit, values }) => {
  const begin = performance.now()
  const columns = [], rows = []
  let more = false, late = false
  sqlite.capi.sqlite3_progress_handler(db.pointer, 1e4, () => {
    late = performance.now() - begin > ms
    return late ? 1 : 0
  }, 0)
  try {
    db.exec({
      sql, rowMode: 'array', columnNames: columns,
      callback: row => {
        more = rows.length == limit || (rows.length + 1) * row.length > values
        if (more) return false // no further row is made
        rows.push(row)
      },
    })
  } catch (e) {
    if (!late) throw e
  }
  postMessage({ is: 'answer', columns, rows, ms: performance.now() - begin, more, late })
}

onmessage = async ({ data }) => {
  try {
    await (data.do == 'open' ? open : run)(data)
  } catch (e) {
    postMessage({ is: 'failed', text: e.message.replace(/^SQLITE_\w+: sqlite3 result code \d+: /, '') })
  }
}
