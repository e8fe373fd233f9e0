// Sorting and filtering of table.board, on top of a page that is complete
// without it. Rows are ordered by their data-v attributes and shown or hidden;
// of those shown, ranks are counted anew by the intervals in data-i, and no other
// number is computed or formatted here. What differs from the page as served is
// kept in the URL: ?q=…&sort=…&dir=…&provider=…
(() => {
  const form = document.querySelector('form[data-board]')
  const table = document.querySelector('table.board')
  if (!form || !table) return
  const body = table.tBodies[0]
  const rows = [...body.rows].filter(r => !r.querySelector('.lone'))
  const tail = [...body.rows].filter(r => r.querySelector('.lone'))
  const heads = [...table.querySelectorAll('th[data-sort]')]
  const fields = [...form.elements].filter(e => e.name)
  const status = document.querySelector('[data-status]')
  const first = { sort: table.dataset.sort || 'rank', dir: '' }
  const up = key => heads.find(h => h.dataset.sort == key)?.dataset.dir != 'down'
  const words = new Map(rows.map(r => [r, (r.dataset.q || r.querySelector('.name').textContent).toLowerCase()]))
  const standard = new Map(fields.map(e => [e, e.type == 'checkbox' ? '' : e.value]))
  // The rule of package stats: Rank. An interval wholly on the better side beats.
  const rising = heads.find(h => h.dataset.sort == 'm1')?.dataset.dir == 'down'
  const ranked = rows.filter(r => r.querySelector('.rank')?.dataset.i).map(row => {
    const cell = row.querySelector('.rank')
    const [lo, hi] = cell.dataset.i.split(' ').map(Number)
    const text = cell.querySelector('a') || cell
    return { row, text, served: text.textContent, lo: rising ? lo : -hi, hi: rising ? hi : -lo }
  })
  const rank = all => {
    const shown = ranked.filter(r => !r.row.hidden)
    for (const r of shown) {
      const best = 1 + shown.filter(o => o.lo > r.hi).length
      const worst = shown.length - shown.filter(o => r.lo > o.hi).length
      r.row.classList.toggle('lead', best == 1)
      r.text.textContent = all ? r.served : best == worst ? best : best + '–' + worst
    }
  }
  let now = { ...first }
  let menu

  const value = e => e.type == 'checkbox' ? (e.checked ? e.value : '') : e.value
  // An unknown value sorts last, whichever the direction.
  const order = (key, dir) => (a, b) => {
    a = a.querySelector('.' + key)?.dataset.v ?? ''
    b = b.querySelector('.' + key)?.dataset.v ?? ''
    if (a === '' || b === '') return (a === '') - (b === '')
    const d = a - b
    return dir * (isNaN(d) ? a.localeCompare(b, 'en', { numeric: true }) : d)
  }

  const show = () => {
    const dir = now.dir == 'up' ? 1 : now.dir == 'down' ? -1 : up(now.sort) ? 1 : -1
    const served = now.sort == first.sort && !now.dir
    const sorted = served ? rows : [...rows].sort(order(now.sort, dir))
    body.append(...sorted, ...tail)
    // Rules between groups of ranks mean nothing in another order.
    table.classList.toggle('resorted', !served)
    for (const h of heads) {
      if (h.dataset.sort == now.sort) h.setAttribute('aria-sort', dir > 0 ? 'ascending' : 'descending')
      else h.removeAttribute('aria-sort')
    }
    if (menu) menu.value = now.sort
    const terms = (form.elements.q?.value || '').toLowerCase().split(/\s+/).filter(Boolean)
    let n = 0
    for (const r of rows) {
      const ok = terms.every(t => words.get(r).includes(t)) &&
        fields.every(e => e.name == 'q' || !value(e) || (r.dataset[e.name] || '').split(' ').includes(value(e)))
      r.hidden = !ok
      n += ok
    }
    rank(n == rows.length)
    if (n < rows.length) table.classList.add('resorted')
    for (const r of tail) r.hidden = n < rows.length
    if (status) status.textContent = n < rows.length ? `${n} of ${rows.length} ${status.dataset.status}` : ''
  }

  const address = () => {
    const p = new URLSearchParams()
    for (const e of fields) if (value(e) != standard.get(e)) p.set(e.name, value(e))
    if (now.sort != first.sort || now.dir) p.set('sort', now.sort)
    if (now.dir) p.set('dir', now.dir)
    const s = p.toString()
    return location.pathname + (s ? '?' + s : '') + location.hash
  }
  const read = () => {
    const p = new URLSearchParams(location.search)
    for (const e of fields) {
      const v = p.get(e.name)
      if (e.type == 'checkbox') e.checked = v == e.value
      else e.value = v ?? standard.get(e)
      if (e.tagName == 'SELECT' && e.selectedIndex < 0) e.value = standard.get(e)
    }
    const sort = p.get('sort'), dir = p.get('dir')
    now.sort = heads.some(h => h.dataset.sort == sort) ? sort : first.sort
    now.dir = dir == 'up' || dir == 'down' ? dir : ''
    if (now.dir == (up(now.sort) ? 'up' : 'down')) now.dir = ''
    show()
  }

  const sortBy = key => {
    if (now.sort != key) now = { sort: key, dir: '' }
    else now.dir = now.dir ? '' : up(key) ? 'down' : 'up'
    show()
    history.pushState(null, '', address())
  }
  for (const h of heads) {
    const b = document.createElement('button')
    b.type = 'button'
    // Only the words become the button; unit and axis stay beside it.
    b.append(h.firstChild)
    h.prepend(b)
    b.addEventListener('click', () => sortBy(h.dataset.sort))
  }
  const bar = document.querySelector('[data-sortbar]')
  if (bar) {
    menu = document.createElement('select')
    menu.ariaLabel = 'Sort by'
    for (const h of heads) menu.add(new Option('Sort by ' + h.firstChild.textContent.toLowerCase(), h.dataset.sort))
    menu.addEventListener('change', () => sortBy(menu.value))
    bar.prepend(menu)
  }

  // One step of Back per visit to the filter, not one per letter.
  let typing = false
  form.addEventListener('input', e => {
    if (!e.target.name) return
    show()
    const text = e.target.type == 'search'
    history[text && typing ? 'replaceState' : 'pushState'](null, '', address())
    typing = text
  })
  form.addEventListener('focusout', () => { typing = false })
  form.addEventListener('submit', e => e.preventDefault())
  addEventListener('popstate', () => { typing = false; read() })
  read()
})()
