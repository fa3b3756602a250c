// Fails when docs/ARCHITECTURE.md names a `file#function` that is not in the sources, or names none at all.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)
const document = 'docs/ARCHITECTURE.md'

/** The names a file declares anywhere: functions, constants, types, and methods or properties of object literals. */
function declares(source, name) {
  const patterns = [
    `\\b(?:function\\*?|class|interface|type|const|let)\\s+${name}\\b`,
    `^\\s*(?:readonly\\s+|async\\s+|get\\s+|static\\s+|\\*|#)*${name}\\s*(?:[(:<]|,$)`,
  ]
  return patterns.some((pattern) => new RegExp(pattern, 'm').test(source))
}

function problemOf(file, name) {
  const path = join(root, file)
  if (!existsSync(path)) return `${file} does not exist`
  if (!declares(readFileSync(path, 'utf8'), name)) return `${file} declares no ${name}`
  return undefined
}

const text = readFileSync(join(root, document), 'utf8')
const named = [...text.matchAll(/`((?:src|bench|scripts|test)\/[\w./-]+\.(?:ts|mjs))#(\w+)`/g)]
const problems = named.map(([, file, name]) => problemOf(file, name)).filter((problem) => problem !== undefined)
if (named.length === 0) problems.push('no `file#function` is named')
// a file named without a function must exist as well
for (const [, file] of text.matchAll(/`((?:src|bench|scripts|test|docs)\/[\w./-]+\.(?:ts|mjs|md))`/g)) {
  if (!existsSync(join(root, file))) problems.push(`${file} does not exist`)
}
for (const problem of problems) console.error(`${document}: ${problem}`)
console.log(`${named.length} steps named, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0
