import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { expect, test } from 'vitest'
import { OPTION_GROUPS, type OptionRow } from '../../../src/config/option-row.ts'
import { configKeyOf, envNameOf, flagOf, OPTION_ENTRIES } from '../../../src/config/options.ts'

const FILE = join(import.meta.dirname, '../../../docs/options.md')

const HEAD = `# Options

Each is a flag of the commands named beside it, a variable of the environment and a key of the config file
(\`spoor.config.ts\`, \`.mjs\`, \`.js\` or \`.json\`, or \`--config FILE\`). A flag wins over the environment, that over the
file, that over the default. A repeatable option stands one value a line in the environment and is a list in the file.
Durations are written \`250ms\`, \`1.5s\`, \`2m\`, \`1h\`, \`30d\` (a bare number is seconds), sizes \`64kb\`, \`10mb\`.

This page is made from the option table (\`src/config/table\`): \`npx vitest run test/unit/config -u\` writes it anew.
`

const cell = (text: string): string => text.replaceAll('|', '\\|')

function rowText(row: OptionRow<unknown>): string {
  const value = row.takes === 'none' ? '' : ` ${row.placeholder}`
  const flag = `\`${row.short === undefined ? '' : `-${row.short}, `}${flagOf(row)}${value}\`${row.many ? ' …' : ''}`
  const names = `\`${envNameOf(row)}\` \`${configKeyOf(row)}\``
  return `| ${[flag, row.defaultText ?? '', row.doc, names, row.on.join(', ')].map(cell).join(' | ')} |`
}

test('docs/options.md holds every option of this version, as the table has it', async () => {
  const sections = OPTION_GROUPS.map((group) => {
    const rows = OPTION_ENTRIES.map(([, row]) => row).filter((row) => row.group === group && row.onlyFor === undefined)
    const head = '| flag | default | meaning | environment, config file | commands |\n|---|---|---|---|---|'
    return rows.length === 0 ? '' : `\n## ${group}\n\n${head}\n${rows.map(rowText).join('\n')}\n`
  })
  const config = await resolveConfig(FILE)
  const text = await format(HEAD + sections.join(''), { ...config, parser: 'markdown' })
  await expect(text).toMatchFileSnapshot(FILE)
})
