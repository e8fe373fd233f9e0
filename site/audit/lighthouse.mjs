// Runs Lighthouse, as on a phone, over pages of one site:
//
//   node lighthouse.mjs CHROMIUM ADDRESS…
//
// and prints one line of JSON a page: its address, the score of each category
// from 0 to 100, the audits that keep a category but performance from 100, and
// the figures behind performance.
import { launch } from 'chrome-launcher'
import lighthouse from 'lighthouse'

const [chromePath, ...addresses] = process.argv.slice(2)
const chrome = await launch({
  chromePath,
  chromeFlags: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-component-update'],
})
try {
  for (const address of addresses) {
    const { lhr } = await lighthouse(address, { port: chrome.port, logLevel: 'error', output: [] })
    if (lhr.runtimeError) throw new Error(`${address}: ${lhr.runtimeError.message}`)
    const line = { address, scores: {}, faults: [], figures: {} }
    for (const { id, score, auditRefs } of Object.values(lhr.categories)) {
      line.scores[id] = score === null ? null : Math.round(100 * score)
      if (id == 'performance') continue
      for (const ref of auditRefs) {
        const audit = lhr.audits[ref.id]
        if (ref.weight == 0 || audit.score === null || audit.score == 1) continue
        const where = (audit.details?.items ?? []).slice(0, 3).map(i => i.node?.snippet ?? i.description ?? i.url ?? '')
        line.faults.push([id, ref.id, audit.title, ...where].join(': '))
      }
    }
    for (const [name, id] of [['fcp_ms', 'first-contentful-paint'], ['lcp_ms', 'largest-contentful-paint'],
      ['tbt_ms', 'total-blocking-time'], ['cls', 'cumulative-layout-shift'], ['bytes', 'total-byte-weight']]) {
      line.figures[name] = lhr.audits[id]?.numericValue ?? null
    }
    console.log(JSON.stringify(line))
  }
} finally {
  chrome.kill()
}
