// Prints passed, failed and skipped of a vitest JSON report, and names what was skipped on stderr.
import { readFileSync } from 'node:fs'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
const of = (...statuses) => tests.filter(({ status }) => statuses.includes(status))
// a file that could not be loaded has no tests of its own
const broken = report.testResults.filter(
  ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
)
const skipped = of('skipped', 'pending', 'todo', 'disabled')
for (const { fullName } of skipped) console.error(`SKIPPED ${fullName}`)
const passed = of('passed').length
const failed = of('failed').length + broken.length
if (passed + failed === 0) throw new Error('the report holds no test')
console.log(passed, failed, skipped.length)
