/** What is missing for rendering is told with the command that installs it. */

import { describe, expect, it } from 'vitest'
import { findBrowser, loadPlaywright } from '../../../../src/fetch/browser/find-browser.ts'

describe('without playwright-core', () => {
  it('says that it is needed, and how to get it', () => {
    const missing = Object.assign(new Error('none'), { code: 'MODULE_NOT_FOUND' })
    const load = (): never => {
      throw missing
    }
    expect(() => loadPlaywright(load)).toThrow('needs the package playwright-core: run `npm install playwright-core`')
    expect(() => loadPlaywright(load)).toThrow(expect.objectContaining({ code: 'PEER_MISSING' }))
  })
})

describe('without a browser', () => {
  it('says how to get one', async () => {
    const search = { named: undefined, own: '/nowhere/chrome', path: '/nowhere' }
    await expect(findBrowser(search)).rejects.toMatchObject({ code: 'BROWSER_UNAVAILABLE' })
    await expect(findBrowser(search)).rejects.toThrow('npx playwright-core install --with-deps chromium')
  })

  it('takes the one that is named, and no other', async () => {
    expect(await findBrowser({ named: process.execPath, own: undefined })).toBe(process.execPath)
    await expect(findBrowser({ named: '/nowhere', own: process.execPath })).rejects.toThrow('found none at /nowhere')
  })
})
