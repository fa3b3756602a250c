// `npm start`: from a fresh clone to a crawl of the demo site. `npm start -- crawl URL` runs any other command.
import { dirname, join } from 'node:path'
import { become, buildIfStale, installIfMissing } from './prepare.mjs'

const root = dirname(import.meta.dirname)
const args = process.argv.slice(2)

installIfMissing()
buildIfStale()
become([join(root, 'dist/cli/main.js'), ...(args.length === 0 ? ['demo'] : args)])
