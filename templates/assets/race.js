// Replays the newest answers of up to four endpoints: text of ours appears at
// the instants that were recorded. Who asks for less motion sees the finished
// curves. The choice is kept in the URL: ?with=provider/model&with=…
(() => {
  const part = document.querySelector('[data-race]')
  if (!part) return
  const [form, buttons, said, track, text, options] =
    ['pick', 'buttons', 'said', 'lanes', 'text', 'options'].map(n => part.querySelector(`[data-${n}]`))
  const words = part.dataset.words.split('|')
  const still = matchMedia('(prefers-reduced-motion: reduce)')
  const names = new Map([...options.content.children].map(o => [o.value, o.textContent]))
  const first = [...track.children].map(l => l.dataset.key)
  const root = part.dataset.race
  const W = 1000, H = 100
  const space = document.querySelector('svg').namespaceURI
  const files = new Map()
  const load = key => {
    if (!files.has(key)) files.set(key, fetch(root + key + '.json').then(r => r.ok ? r.json() : Promise.reject(r.status)))
    return files.get(key)
  }
  const make = (tag, name, parent) => {
    const e = /svg|path/.test(tag) ? document.createElementNS(space, tag) : document.createElement(tag)
    if (name) e.setAttribute('class', name)
    parent?.append(e)
    return e
  }
  const selects = Array.from({ length: Math.min(4, names.size) }, (_, i) => {
    const label = make('label', '', form)
    label.append('Lane ' + (i + 1))
    const select = make('select', '', label)
    if (i) select.add(new Option('none', ''))
    select.append(...options.content.cloneNode(true).children)
    return select
  })
  const button = (name, run) => {
    const b = make('button', 'btn', buttons)
    b.type = 'button'
    b.textContent = name
    b.addEventListener('click', run)
    return b
  }

  let lanes = [], end = 0, at = Infinity, began = 0, frame = 0, turn = 0
  const place = lane => {
    let i = at == Infinity ? lane.t.length : lane.i
    if (at == 0) i = 0
    while (i < lane.t.length && lane.t[i] <= at) i++
    if (i != lane.i || lane.fresh) {
      let d = i > lane.i && !lane.fresh ? lane.d : 'M0 ' + H
      for (let k = d == lane.d ? lane.i : 0; k < i; k++) d += `H${(lane.t[k] / end * W).toFixed(1)}V${(H - lane.n[k] / lane.most * H).toFixed(1)}`
      lane.curve.setAttribute('d', lane.d = d)
      lane.out.textContent = lane.text.slice(0, i ? lane.n[i - 1] : 0)
      lane.out.scrollTop = lane.out.scrollHeight
    }
    const state = words[i == lane.t.length ? 3 : i ? 2 : lane.think !== null && lane.think <= at ? 1 : 0]
    if (lane.state.textContent != state) lane.state.textContent = state
    lane.i = i
    lane.fresh = false
  }
  const draw = () => {
    lanes.forEach(place)
    part.dataset.state = frame ? 'running' : at >= end ? 'finished' : 'paused'
    play.textContent = frame ? 'Pause' : at >= end || !at ? 'Start the race' : 'Go on'
    again.disabled = at == Infinity
  }
  const stop = () => {
    cancelAnimationFrame(frame)
    frame = 0
  }
  const tick = now => {
    at = now - began
    if (at < end) frame = requestAnimationFrame(tick)
    else { stop(); at = Infinity }
    draw()
  }
  const start = from => {
    stop()
    at = from
    began = performance.now() - from
    frame = requestAnimationFrame(tick)
    draw()
  }
  const play = button('Start the race', () => {
    if (frame) { stop(); draw() } else start(at >= end ? 0 : at)
  })
  play.classList.add('main')
  const again = button('From the beginning', () => start(0))
  const calm = () => {
    for (const b of buttons.children) b.hidden = still.matches
    if (still.matches) { stop(); at = Infinity; draw() }
    said.textContent = still.matches ? 'Your system asks for less motion, so the finished curves are shown.' : ''
  }

  const show = async () => {
    const keys = [...new Set(selects.map(s => s.value).filter(Boolean))]
    const mine = ++turn
    let all
    try {
      all = await Promise.all(keys.map(load))
    } catch {
      files.clear()
      if (mine == turn) said.textContent = 'The recorded pace could not be loaded.'
      return
    }
    if (mine != turn) return
    stop()
    at = Infinity
    lanes = all.map((x, i) => {
      const box = make('article', 'lane e' + (i + 1))
      const link = make('a', '', make('h3', '', box))
      link.href = root.replace('raced/', 'pair/') + keys[i] + '/'
      make('bdi', '', link).textContent = names.get(keys[i])
      make('p', 'dim', box).textContent = x.facts
      const state = make('p', 'state', box)
      const svg = make('svg', '', box)
      svg.setAttribute('viewBox', `0 0 ${W} ${H}`)
      svg.setAttribute('preserveAspectRatio', 'none')
      svg.setAttribute('aria-hidden', 'true')
      const out = make('output', '', box)
      out.setAttribute('aria-hidden', 'true')
      let t = 0, n = 0
      const lane = { box, state, out, curve: make('path', 'ln', svg), think: x.thinking_ms, t: x.ms.map(d => t += d), n: x.chars.map(d => n += d), i: 0, d: '', fresh: true }
      lane.text = text.textContent.repeat(Math.ceil(n / text.textContent.length))
      return lane
    })
    end = Math.max(...lanes.map(l => l.t.at(-1)))
    const most = Math.max(...lanes.map(l => l.n.at(-1)))
    for (const l of lanes) l.most = most
    track.replaceChildren(...lanes.map(l => l.box))
    draw()
    calm()
    part.dataset.ready = keys.join(' ')
  }
  const read = () => {
    const asked = [...new Set(new URLSearchParams(location.search).getAll('with'))].filter(k => names.has(k))
    selects.forEach((s, i) => { s.value = (asked.length ? asked : first)[i] ?? '' })
    show()
  }
  form.addEventListener('change', () => {
    const keys = [...new Set(selects.map(s => s.value).filter(Boolean))]
    history.pushState(null, '', location.pathname + (keys.join() == first.join() ? '' : '?' + keys.map(k => 'with=' + k).join('&')))
    show()
  })
  form.addEventListener('submit', e => e.preventDefault())
  still.addEventListener('change', calm)
  addEventListener('popstate', read)
  read()
})()
