// Works a load out in the page, by the formulas the page lists and the medians
// in its rows. The load is kept in the URL: ?rpm=…&in=…&out=…
(() => {
  const form = document.querySelector('[data-load]')
  if (!form) return
  const said = document.querySelector('[data-said]')
  const inputs = ['rpm', 'in', 'out'].map(n => form.elements[n])
  const served = inputs.map(e => e.value)
  const rows = [...document.querySelectorAll('tr[data-ttft]')].map(row => ({
    row, name: row.dataset.name, key: row.dataset.key, ttft: +row.dataset.ttft, rate: +row.dataset.rate,
  }))
  const pick = document.querySelector('[data-pick]')
  const set = (e, text) => { if (e && e.textContent != text) e.textContent = text }
  const all = selector => document.querySelectorAll(selector)

  // As the site formats: so many significant digits, halves to the even digit,
  // thousands grouped.
  const significant = (v, digits) => {
    if (!isFinite(v)) return '—'
    if (!v) return '0'
    const [exact, power] = Math.abs(v).toExponential(30).split('e')
    const figures = exact.replace('.', '')
    let [mantissa, exponent] = Math.abs(v).toExponential(digits - 1).split('e')
    if (/^50*$/.test(figures.slice(digits)) && figures[digits - 1] % 2 == 0) {
      mantissa = figures[0] + '.' + figures.slice(1, digits)
      exponent = power
    }
    const [whole, fraction] = Number(mantissa + 'e' + exponent).toFixed(Math.max(digits - 1 - exponent, 0)).split('.')
    return (v < 0 ? '−' : '') + whole.replace(/\B(?=(\d{3})+$)/g, ',') + (fraction ? '.' + fraction : '')
  }
  const count = n => String(n).replace(/\B(?=(\d{3})+$)/g, ',')
  const latency = ms => Math.round(ms) < 1000 ? Math.round(ms) + ' ms' : significant(ms / 1000, 3) + ' s'

  const timeTo = (p, tokens) => p.ttft + (tokens - 1) / p.rate
  const crossing = (a, b) => {
    const sooner = b.ttft < a.ttft ? b : a, faster = b.rate > a.rate ? b : a
    const tokens = 1 + (b.ttft - a.ttft) / (1 / a.rate - 1 / b.rate)
    if (a.ttft == b.ttft && a.rate == b.rate) return 'Both take the same time at every length.'
    if (a.ttft != b.ttft && tokens >= 1 && isFinite(tokens) && sooner != faster) return `By their medians, ${sooner.name} is done first up to about ${significant(tokens, 2)} tokens, ${faster.name} from there on.`
    return `By their medians, ${(a.ttft == b.ttft ? faster : sooner).name} is done first at every length.`
  }

  const show = () => {
    const bad = inputs.find(e => !e.validity.valid || e.value === '')
    said.textContent = bad ? `${bad.parentNode.firstChild.textContent}: a whole number from ${bad.min} to ${count(bad.max)}, please.` : ''
    if (bad) return
    const [rpm, input, output] = inputs.map(e => +e.value)
    const tpm = { input: input * rpm, output: output * rpm, total: input * rpm + output * rpm }
    for (const name in tpm) set(document.querySelector(`[data-result=${name}]`), count(tpm[name]))
    set(document.querySelector('[data-result=length]'), count(output))
    for (const e of all('[data-tpm]')) {
      const { tpm: each, weight, min, step } = e.dataset
      const raw = (tpm.input + weight * tpm.output) / each
      set(e.querySelector('[data-raw]'), significant(raw, 3))
      set(e.querySelector('[data-units]'), count(Math.max(min, step * Math.ceil(raw / step))))
    }
    for (const p of rows) {
      p.time = timeTo(p, output)
      set(p.row.querySelector('[data-answer]'), latency(p.time * 1000))
      set(p.row.querySelector('[data-flight]'), significant(rpm / 60 * p.time, 3))
    }
    rows[0]?.row.parentNode.append(...[...rows].sort((a, b) => a.time - b.time).map(p => p.row))
  }
  const read = () => {
    const q = new URLSearchParams(location.search)
    inputs.forEach((e, i) => { e.value = q.get(e.name) ?? served[i] })
    show()
  }
  for (const e of inputs) e.disabled = false
  form.addEventListener('input', show)
  form.addEventListener('change', () => {
    if (inputs.some(e => !e.validity.valid || e.value === '')) return
    const q = inputs.filter((e, i) => e.value != served[i]).map(e => e.name + '=' + e.value).join('&')
    history.replaceState(null, '', location.pathname + (q ? '?' + q : '') + location.hash)
  })
  form.addEventListener('submit', e => e.preventDefault())
  addEventListener('popstate', read)
  read()

  if (pick && rows.length > 1) {
    const selects = ['a', 'b'].map((side, i) => {
      const label = document.createElement('label')
      const select = document.createElement('select')
      for (const p of [...rows].sort((x, y) => x.name < y.name ? -1 : 1)) select.add(new Option(p.name, p.key))
      label.append(['One', 'The other'][i], select)
      pick.append(label)
      select.value = pick.dataset[side]
      return select
    })
    pick.addEventListener('change', () => {
      const [a, b] = selects.map(s => rows.find(p => p.key == s.value))
      set(document.querySelector('[data-cross]'), a == b ? 'Choose two different endpoints.' : crossing(a, b))
    })
    pick.addEventListener('submit', e => e.preventDefault())
  }
})()
