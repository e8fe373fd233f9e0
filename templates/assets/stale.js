// Shows the stale banner when the page is older than it promises to become.
// <html data-generated="RFC 3339" data-stale-hours="6">, [data-stale] hidden,
// and inside it [data-age] for the age in words.
(() => {
  const { generated, staleHours } = document.documentElement.dataset
  const banner = document.querySelector('[data-stale]')
  const made = Date.parse(generated)
  if (!banner || isNaN(made) || !(staleHours > 0)) return
  const check = () => {
    const hours = (Date.now() - made) / 36e5
    banner.hidden = !(hours > staleHours)
    const age = banner.querySelector('[data-age]')
    const n = Math.floor(hours < 48 ? hours : hours / 24)
    if (age) age.textContent = n + (hours < 48 ? ' hour' : ' day') + (n == 1 ? '' : 's')
  }
  check()
  // A page left open ages too.
  setInterval(check, 6e5)
})()
