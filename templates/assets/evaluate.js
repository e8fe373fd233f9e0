// Draws what `streamgauge evaluate --json` printed in the shape of the example.
// It is sent nowhere; what it holds is bounded, and becomes text, a number or nothing.
(() => {
  const part = document.querySelector('[data-read]')
  const example = document.querySelector('[data-example]')
  if (!part || !example) return
  const said = part.querySelector('[data-said]')
  const [wrong, large, drawn] = said.dataset.texts.split('|')
  const brief = +example.dataset.brief
  const mostText = 4e6, mostTrials = 200, mostRows = 40

  const num = (v, least = 0) => typeof v == 'number' && v >= least && v <= 1e9 ? v : null
  const list = (v, most) => Array.isArray(v) ? v.slice(0, most) : []
  const text = (v, most) => typeof v == 'string' ? v.replace(/\p{C}/gu, '').slice(0, most) : ''
  const show = v => num(v)?.toLocaleString('en', { maximumSignificantDigits: 4 }) ?? '—'
  const make = (tag, content) => {
    const e = document.createElement(tag)
    e.append(content)
    return e
  }

  // The requests that the two lines were fitted to.
  const places = e => {
    const both = [[], []]
    for (const t of list(e.trials, mostTrials)) {
      const r = t?.report
      if (r?.outcome != 'ok' || r.noise?.client_noisy) continue
      const [i, x, y] = t.output_tokens != brief ? [1, r.visible_tokens, r.ttlt_ms]
        : [0, e.prompt.aimed ? t.input_tokens : r.cached_tokens > 0 || r.input_tokens, r.ttfo_ms]
      if (num(x, 1) && num(y)) both[i].push([x, y])
    }
    return both
  }

  // An axis from nought that ends on a tick: 1, 2 or 5 times a power of ten.
  const axis = values => {
    const fifth = Math.max(...values) / 5, power = 10 ** Math.floor(Math.log10(fifth))
    const step = power * ([1, 2, 5].find(m => m * power >= fifth * (1 - 1e-9)) ?? 10)
    return Array.from({ length: Math.ceil(fifth * 5 / step - 1e-9) + 1 }, (_, i) => i * step)
  }
  const ms = v => v < 1000 ? show(v) : show(v / 1000) + ' s'

  const draw = (svg, points, start, slope) => {
    const { width: W, height: H } = svg.viewBox.baseVal, size = +svg.getAttribute('font-size')
    const hue = svg.querySelector('.mark').getAttribute('class')
    svg.replaceChildren(...svg.querySelectorAll('.at'))
    if (!points.length) return
    const put = (tag, attributes, content) => {
      const e = document.createElementNS(svg.namespaceURI, tag)
      for (const name in attributes) e.setAttribute(name, attributes[name])
      if (content) e.textContent = content
      svg.append(e)
    }
    const across = axis(points.map(p => p[0])), up = axis(points.map(p => p[1]))
    const X = across.at(-1), Y = up.at(-1), top = size * 2, bottom = H - size * 3.6, right = W - size
    const left = size * (0.7 + 0.6 * Math.max(...up.map(v => ms(v).length)))
    const x = v => left + v / X * (right - left), y = v => bottom - Math.max(v, 0) / Y * (bottom - top)
    const at = (a, b) => x(a).toFixed(1) + ' ' + y(b).toFixed(1)
    put('path', { class: 'grid', d: up.map(v => 'M' + at(0, v) + 'L' + at(X, v)).join('') + across.map(v => 'M' + at(v, 0) + 'L' + at(v, Y)).join('') })
    for (const v of up) put('text', { x: left - size * 0.6, y: y(v) + size * 0.35, 'text-anchor': 'end' }, ms(v))
    for (const v of across) put('text', { x: Math.min(x(v), W - size * 1.6), y: bottom + size * 1.5, 'text-anchor': 'middle' }, show(v))
    if (slope != null && start != null) {
      const [from, to] = slope > 0 ? [-start / slope, (Y - start) / slope].map(v => Math.min(Math.max(v, 0), X)) : [0, X]
      put('path', { class: hue.replace('mark', 'ln'), d: 'M' + at(from, start + slope * from) + 'L' + at(to, start + slope * to) })
    }
    put('path', { class: hue, d: points.map(p => 'M' + at(...p) + 'h0').join('') })
  }

  const read = raw => {
    part.querySelector('[data-yours]').replaceChildren()
    let e
    try { e = raw.length <= mostText && JSON.parse(raw) } catch { e = null }
    const known = e?.format == 'streamgauge-evaluation/1' && e.prompt && e.answer
    said.textContent = known ? drawn : raw.length > mostText ? large : raw.trim() && wrong
    if (!known) return
    const mine = example.cloneNode(true)
    mine.removeAttribute('data-example')
    mine.querySelector('[data-of]').textContent = text(e.provider, 100) + '/' + text(e.model, 200)
    mine.querySelector('[data-asked]').textContent = `${show(e.ok)} / ${show(e.requests)}, ${text(e.at, 40)}`
    mine.querySelector('[data-verdict]').replaceChildren(...list(e.verdict, mostRows).map(line => make('li', text(line, 600))))
    const slope = s => s && !s.reason && num(s.ms, -1e9)
    const pace = slope(e.answer.streamed) || slope(e.answer.by_length)
    const lines = [[num(e.prompt.start_ms, -1e9), slope(e.prompt.per_token) || null], [num(e.answer.start_ms) - pace, pace || null]]
    const points = places(e)
    mine.querySelectorAll('.fig').forEach((fig, i) => {
      fig.removeAttribute('id')
      for (const svg of fig.querySelectorAll('svg')) {
        svg.setAttribute('aria-label', fig.querySelector('h2').textContent + ': ' + points[i].length)
        draw(svg, points[i], ...lines[i])
      }
      fig.querySelector('tbody').replaceChildren(...list(i ? e.answer.lengths : e.prompt.sizes, mostRows).map(z => {
        const tr = make('tr', '')
        for (const name of ['tokens', 'n', 'ms', 'min_ms', 'max_ms']) {
          const cell = make(tr.firstElementChild ? 'td' : 'th', show(z?.[name]))
          if (tr.firstElementChild) cell.className = 'num'
          else cell.scope = 'row'
          tr.append(cell)
        }
        return tr
      }))
    })
    part.querySelector('[data-yours]').append(mine)
  }

  const open = async file => file && read(file.size > mostText ? ' '.repeat(mostText + 1) : await file.text())
  part.querySelector('textarea').addEventListener('input', event => read(event.target.value))
  part.querySelector('[type=file]').addEventListener('change', event => open(event.target.files[0]))
  part.querySelector('form').addEventListener('submit', event => event.preventDefault())
  part.addEventListener('dragover', event => event.preventDefault())
  part.addEventListener('drop', event => {
    event.preventDefault()
    open(event.dataTransfer.files[0])
  })
})()
