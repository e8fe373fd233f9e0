// Opens what folds the entry that an address names, where the browser does not
// by itself, and puts a copy button on each <pre data-copy>.
(() => {
  const reveal = () => {
    const entry = document.getElementById(location.hash.slice(1))
    const fold = entry?.closest('details:not([open])')
    if (!fold) return
    fold.open = true
    entry.scrollIntoView()
  }
  addEventListener('hashchange', reveal)
  reveal()
  if (!navigator.clipboard) return
  for (const pre of document.querySelectorAll('pre[data-copy]')) {
    const box = document.createElement('div')
    const button = document.createElement('button')
    box.className = 'copybox'
    button.className = 'btn copy'
    button.type = 'button'
    button.textContent = 'Copy'
    button.setAttribute('aria-live', 'polite')
    const say = text => {
      button.textContent = text
      setTimeout(() => { button.textContent = 'Copy' }, 2000)
    }
    button.addEventListener('click', () => navigator.clipboard.writeText(pre.textContent.trimEnd())
      .then(() => say('Copied'), () => say('Select and copy')))
    pre.replaceWith(box)
    box.append(pre, button)
  }
})()
