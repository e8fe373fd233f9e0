// Lets a reader choose two to four endpoints. Rows are copied from the table of
// all; what is said of two of them comes as text from one file an endpoint. The
// choice is kept in the URL: ?with=provider/model&with=…
(() => {
  const part = document.querySelector('[data-compare]')
  const source = document.querySelector('[data-all] table.board')
  if (!part || !source) return
  const form = part.querySelector('[data-pick]')
  const said = part.querySelector('[data-said]')
  const shown = part.querySelector('[data-shown] tbody')
  const versus = part.querySelector('.versus tbody')
  const note = part.querySelector('[data-note]')
  const notes = part.dataset.notes.split('|')
  const most = notes.length + 1
  const rows = new Map()
  for (const row of source.tBodies[0].rows) {
    const link = row.querySelector('.name a')
    const key = link?.getAttribute('href').match(/pair\/([^/]+\/[^/]+)\//)?.[1]
    if (key) rows.set(key, { row, href: link.href, name: [link, row.querySelector('.prov bdi, .prov[dir]')].map(e => e?.textContent).filter(Boolean).join(' on ') })
  }
  const first = [...rows.keys()].slice(0, 2)
  const files = new Map()
  const load = key => {
    if (!files.has(key)) files.set(key, fetch(part.dataset.compare + key + '.json').then(r => r.ok ? r.json() : Promise.reject(r.status)))
    return files.get(key)
  }
  const selects = Array.from({ length: Math.min(most, rows.size) }, (_, i) => {
    const label = document.createElement('label')
    const select = document.createElement('select')
    label.append(['First', 'Second', 'Third', 'Fourth'][i] || '', select)
    if (i > 1) select.add(new Option('none', ''))
    for (const [key, { name }] of rows) select.add(new Option(name, key))
    form.append(label)
    return select
  })

  const make = (tag, ...parts) => {
    const e = document.createElement(tag)
    e.append(...parts)
    return e
  }
  const link = key => {
    const a = make('a', make('bdi', rows.get(key).name))
    a.href = rows.get(key).href
    return a
  }
  // A link to the days that a difference is made of, for the series a and b.
  const query = (link, a, b) => a && b && link?.replace(/%7B([AB])%7D/g, (_, side) =>
    encodeURIComponent((side == 'A' ? a : b).map(term => side.toLowerCase() + '.' + term).join(' AND ')))
  const cell = (label, [what, interval], href) => {
    const clear = /^[\d.,]/.test(what)
    const dim = make(href ? 'a' : 'span', interval)
    dim.className = 'dim'
    if (href) dim.href = href
    const td = make('td', clear ? make('b', what) : what, ' ', dim)
    td.dataset.l = label
    return td
  }
  let turn = 0
  const show = async () => {
    const keys = [...new Set(selects.map(s => s.value).filter(Boolean))]
    const mine = ++turn
    said.textContent = keys.length < 2 ? 'Choose two different endpoints.' : ''
    if (keys.length < 2) return
    let all
    try {
      all = await Promise.all(keys.slice(0, -1).map(load))
    } catch {
      files.clear()
      if (mine == turn) said.textContent = 'The comparison could not be loaded.'
      return
    }
    if (mine != turn) return
    shown.replaceChildren(...keys.map(k => rows.get(k).row.cloneNode(true)))
    versus.replaceChildren(...keys.flatMap((a, i) => keys.slice(i + 1).map(b => {
      const x = all[i].against[b]
      const days = metric => query(part.dataset[metric], all[i].series, x.series)
      const head = make('th', link(a), ' against ', link(b))
      head.scope = 'row'
      return make('tr', head, cell('speed', x.speed[keys.length - 2], days('speed')), cell('first token', x.wait[keys.length - 2], days('wait')), make('td', x.done[keys.length - 2]))
    })))
    note.textContent = notes[keys.length - 2]
    part.dataset.ready = keys.join(' ')
  }
  const read = () => {
    const asked = new URLSearchParams(location.search).getAll('with').filter(k => rows.has(k))
    const keys = [...new Set([...asked, ...(asked.length > 1 ? [] : first)])].slice(0, Math.max(2, asked.length))
    selects.forEach((s, i) => { s.value = keys[i] ?? '' })
    show()
  }
  form.addEventListener('change', () => {
    const keys = [...new Set(selects.map(s => s.value).filter(Boolean))]
    const same = keys.join() == first.join()
    history.pushState(null, '', location.pathname + (same ? '' : '?' + keys.map(k => 'with=' + k).join('&')))
    show()
  })
  form.addEventListener('submit', e => e.preventDefault())
  addEventListener('popstate', read)
  read()
})()
