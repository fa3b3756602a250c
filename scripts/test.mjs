// `npm test`: all tests, from a fresh clone too. `npm test -- test/unit/url` runs some of them.
import { dirname, join } from 'node:path'
import { become, buildIfStale, installIfMissing } from './prepare.mjs'

const root = dirname(import.meta.dirname)

installIfMissing()
buildIfStale()
become([join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...process.argv.slice(2)], { cwd: root })
