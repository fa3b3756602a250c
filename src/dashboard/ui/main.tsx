/** Puts the dashboard into the page. */

import { render } from 'preact'
import { App } from './app.tsx'
import { applyTheme } from './theme.ts'

applyTheme()
const root = document.querySelector('#app')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
