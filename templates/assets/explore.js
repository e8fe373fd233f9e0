// Replaces a drawn chart by an ECharts one when the reader asks for it.
//
//   <script src="…/explore.js" defer data-echarts="…/echarts.min.js"></script>
//   <div class="explore" data-explore="option.json" data-format="tps" data-name="…">svg…</div>
//
// The JSON is an ECharts option without functions. Formatters cannot be data:
// data-format names one of those below. Colours come from the stylesheet. The
// box keeps the size of the drawing, so nothing moves.
(() => {
  const lib = document.currentScript.dataset.echarts
  const round = v => String(+(+v).toPrecision(3))
  const formats = {
    plain: round,
    tps: v => round(v) + ' tok/s',
    ms: v => v < 1000 ? round(v) + ' ms' : round(v / 1000) + ' s',
    pct: v => round(v) + ' %',
    usd: v => '$' + round(v),
    tokens: v => round(v) + ' tokens',
  }
  const css = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim()
  const list = v => Array.isArray(v) ? v : v ? [v] : [{}]
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const when = v => new Date(v).toISOString().slice(0, 16).replace('T', ' ') + ' UTC'

  let loading
  const library = () => loading ??= new Promise((ok, fail) => {
    const s = document.createElement('script')
    s.src = lib
    s.onload = () => ok(globalThis.echarts)
    s.onerror = () => { loading = undefined; s.remove(); fail(new Error('chart library not reached')) }
    document.head.append(s)
  })

  // Everything the page decides rather than the data: colours, text, tooltip.
  const dress = (option, box) => {
    const format = formats[box.dataset.format] || formats.plain
    const ink = css('ink'), dim = css('dim'), line = css('line')
    const axis = a => ({
      ...a,
      axisLabel: { ...a.axisLabel, color: dim },
      axisLine: { ...a.axisLine, lineStyle: { color: css('edge') } },
      splitLine: { ...a.splitLine, lineStyle: { color: css('grid') } },
      nameTextStyle: { color: dim },
    })
    const o = {
      ...option,
      useUTC: true,
      animation: false,
      backgroundColor: 'transparent',
      color: ['e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7', 'e8'].map(css),
      grid: { left: 60, right: 24, top: 34, bottom: 30, ...option.grid },
      legend: { show: list(option.series).length > 1, top: 0, left: 110, icon: 'rect', itemHeight: 3, ...option.legend, textStyle: { color: dim } },
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: ink },
      aria: { enabled: true, label: { description: box.dataset.name || '' } },
      tooltip: {
        trigger: 'axis', ...option.tooltip,
        renderMode: 'richText', confine: true,
        backgroundColor: css('paper'), borderColor: line, textStyle: { color: ink, fontSize: 13 },
        valueFormatter: v => v == null || v === '-' || isNaN(v) ? 'no sample' : format(v),
      },
    }
    if (option.xAxis) {
      o.xAxis = list(option.xAxis).map(axis)
      for (const a of o.xAxis) if (a.type == 'time') a.axisPointer = { label: { formatter: p => when(p.value) } }
    }
    if (option.yAxis) o.yAxis = list(option.yAxis).map(axis)
    if (option.visualMap) {
      o.visualMap = list(option.visualMap).map(v => ({
        ...v, textStyle: { color: dim }, inRange: { color: ['q0', 'q1', 'q2', 'q3', 'q4'].map(css) },
      }))
    }
    if (!option.dataZoom && option.xAxis) o.dataZoom = [{ type: 'inside', filterMode: 'none' }]
    return o
  }

  const open = async (box, button) => {
    button.disabled = true
    button.textContent = 'Loading…'
    try {
      const [echarts, option] = await Promise.all([
        library(),
        fetch(box.dataset.explore).then(r => r.ok ? r.json() : Promise.reject(new Error('data: ' + r.status))),
      ])
      const live = document.createElement('div')
      live.className = 'live'
      box.append(live)
      const chart = echarts.init(live, null, { renderer: 'svg' })
      const draw = () => chart.setOption(dress(option, box), true)
      draw()
      box.classList.add('on')
      dark.addEventListener('change', draw)
      const size = new ResizeObserver(() => chart.resize())
      size.observe(live)
      button.disabled = false
      button.textContent = 'Reset zoom'
      button.onclick = () => chart.dispatchAction({ type: 'dataZoom', start: 0, end: 100 })
      const back = document.createElement('button')
      back.type = 'button'
      back.className = 'btn'
      back.textContent = 'Back to the drawing'
      back.onclick = () => {
        dark.removeEventListener('change', draw)
        size.disconnect()
        chart.dispose()
        live.remove()
        back.remove()
        box.classList.remove('on')
        arm(box, button)
        button.focus()
      }
      button.after(back)
    } catch (e) {
      button.disabled = false
      button.textContent = 'Explore: ' + e.message + '. Try again'
    }
  }
  const arm = (box, button) => {
    button.textContent = 'Explore'
    button.onclick = () => open(box, button)
  }

  for (const box of document.querySelectorAll('[data-explore]')) {
    // The page keeps room for the buttons: an empty <p class="tools"> after the box.
    let bar = box.nextElementSibling
    if (!bar?.matches('.tools')) {
      bar = document.createElement('p')
      bar.className = 'tools'
      box.after(bar)
    }
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'btn'
    // Begin the download on intent; the click then finds it under way.
    button.addEventListener('pointerenter', () => library().catch(() => {}), { once: true })
    arm(box, button)
    bar.append(button)
  }
})()
