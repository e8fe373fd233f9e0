// The editor of the query page. It loads nothing until the reader runs a query;
// a query that came in the address waits for that too.
//
//   <form data-query data-worker data-engine data-wasm data-wasm-bytes>
//     textarea, input[name=file][data-url][data-packed][data-bytes][data-sha256][data-load],
//     [data-run] [data-cancel] [data-csv] progress [data-status]
//   [data-answer], and a[data-put] that put a query into the editor
(() => {
  const limits = { ms: 10_000, rows: 100_000, values: 2_000_000 }
  const shown = 200 // rows in the page; the CSV has all
  const form = document.querySelector('[data-query]')
  const answer = document.querySelector('[data-answer]')
  const [editor, runs, cancel, csv, bar, status] =
    ['textarea', '[data-run]', '[data-cancel]', '[data-csv]', 'progress', '[data-status]'].map(s => form.querySelector(s))
  const absolute = path => new URL(path, location).href
  const count = (n, noun) => n.toLocaleString('en') + ' ' + noun + (n == 1 ? '' : 's')

  let worker   // once something is loaded or being loaded
  let held     // the file it holds
  let give     // ends what is waited for
  let result   // the newest answer

  const chosen = () => form.querySelector('[name=file]:checked')
  const label = () => { runs.textContent = held == chosen().value ? 'Run' : `Load up to ${chosen().dataset.load} and run` }
  const say = (text, kind = '') => {
    status.textContent = text
    status.className = 'status ' + kind
  }
  const end = why => {
    worker?.terminate()
    worker = held = undefined
    give?.(new Error(why))
    label()
  }

  // order sends an order to the worker and waits for what comes of it.
  const order = (what, loading) => new Promise((ok, fail) => {
    give = fail
    worker.onmessage = ({ data }) =>
      data.is == 'loading' ? loading(data.done) : data.is == 'failed' ? fail(new Error(data.text)) : ok(data)
    worker.onerror = e => { e.preventDefault(); fail(new Error(e.message || 'SQLite could not be started.')) }
    worker.postMessage(what)
  })

  const open = async () => {
    const { url, packed, bytes, sha256 } = chosen().dataset
    const { engine, wasm, wasmBytes } = form.dataset
    const file = chosen().value
    end('')
    worker = new Worker(absolute(form.dataset.worker), { type: 'module' })
    bar.hidden = false
    bar.value = 0
    say('Loading…')
    try {
      const { checked } = await order({
        do: 'open', url: absolute(url), packed: +packed, bytes: +bytes, sha256,
        engine: absolute(engine), wasm: absolute(wasm), wasmBytes: +wasmBytes,
      }, done => { bar.value = done / (+packed + +wasmBytes) })
      held = file
      return checked
    } finally {
      bar.hidden = true
      if (!held) end('')
    }
  }

  const run = async () => {
    const sql = editor.value.trim()
    if (!sql || !cancel.hidden) return
    cancel.hidden = false
    runs.disabled = csv.hidden = answer.hidden = true
    let late
    try {
      const file = chosen().value
      const checked = held == file || await open()
      say('Running…')
      history.replaceState(null, '', '?sql=' + encodeURIComponent(sql) + '#console')
      // The worker stops itself; one that cannot is ended.
      late = setTimeout(() => end('Ended after 15 seconds without an answer.'), limits.ms + 5000)
      result = await order({ do: 'run', sql, ...limits })
      show(result, file + (checked ? '' : ', whose SHA-256 this browser can only check over HTTPS'))
    } catch (e) {
      say(e.message, 'warn')
    } finally {
      clearTimeout(late)
      give = undefined
      cancel.hidden = true
      runs.disabled = false
      label()
      if (document.activeElement == document.body) runs.focus()
    }
  }

  const text = v => v == null ? 'NULL' : v instanceof Uint8Array ? `blob of ${count(v.length, 'byte')}` : String(v)
  const isNumber = v => typeof v == 'number' || typeof v == 'bigint'

  const show = ({ columns, rows, ms, more, late }, file) => {
    const seconds = (ms / 1000).toFixed(ms < 100 ? 3 : 1)
    say(late ? `Stopped after ${limits.ms / 1000} seconds, with ${count(rows.length, 'row')} so far, from ${file}.`
      : more ? `Stopped after ${count(rows.length, 'row')} and ${seconds} s, from ${file}: there are more.`
        : `${count(rows.length, 'row')} in ${seconds} s, from ${file}.`, late || more ? 'warn' : '')
    if (rows.length > shown) status.textContent += ` The first ${shown} are shown; the CSV has all.`
    csv.hidden = !columns.length
    if (!columns.length) return
    const numbers = columns.map((_, i) => rows.length > 0 && rows.every(r => r[i] == null || isNumber(r[i])))
    const table = document.createElement('table')
    table.className = 'data'
    const head = table.createTHead().insertRow()
    columns.forEach((name, i) => {
      const th = document.createElement('th')
      th.scope = 'col'
      th.textContent = name
      if (numbers[i]) th.className = 'num'
      head.append(th)
    })
    const body = table.createTBody()
    for (const row of rows.slice(0, shown)) {
      const tr = body.insertRow()
      row.forEach((v, i) => {
        const td = tr.insertCell()
        td.textContent = text(v)
        td.className = (numbers[i] ? 'num ' : '') + (v == null ? 'dim' : '')
      })
    }
    answer.replaceChildren(table)
    answer.hidden = false
  }

  // RFC 4180. Text that a spreadsheet would take for a formula is defused.
  const field = v => {
    let s = v == null ? '' : v instanceof Uint8Array ? Array.from(v, b => b.toString(16).padStart(2, '0')).join('') : String(v)
    if (typeof v == 'string' && /^[=+\-@\t\r]/.test(s)) s = "'" + s
    return /[",\r\n]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s
  }
  csv.onclick = () => {
    const lines = [result.columns, ...result.rows].map(row => row.map(field).join(',') + '\r\n')
    const a = document.createElement('a')
    a.href = URL.createObjectURL(new Blob(lines, { type: 'text/csv' }))
    a.download = 'query.csv'
    a.click()
    setTimeout(() => URL.revokeObjectURL(a.href), 60_000)
  }

  form.onsubmit = e => { e.preventDefault(); run() }
  form.onchange = label
  cancel.onclick = () => end('Canceled.')
  editor.onkeydown = e => {
    if (e.key == 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); run() }
  }
  const put = sql => {
    editor.value = sql
    editor.rows = Math.min(24, Math.max(7, sql.split('\n').length + 1))
  }
  document.addEventListener('click', e => {
    const a = e.target.closest('a[data-put]')
    if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return
    e.preventDefault()
    put(new URL(a.href).searchParams.get('sql'))
    form.scrollIntoView()
    editor.focus({ preventScroll: true })
    say('It is in the editor. Run it when you like.')
  })
  const from = new URLSearchParams(location.search)
  for (const file of form.querySelectorAll('[name=file]')) if (file.value == from.get('file')) file.checked = true
  const asked = from.get('sql')
  if (asked) {
    put(asked)
    say('This query came with the link. It has not been run: read it first.', 'note')
  }
  label()
})()
