/** Options of single commands, and those of all. */

import { LOG_LEVELS } from '../../core/logger.ts'
import { choice, count, text, toggle } from '../option-row.ts'
import { parseHttpOption } from '../parse.ts'
import { ALL, BATCH } from './commands.ts'

export const INPUT = {
  dryRun: toggle({
    flag: 'dry-run',
    default: false,
    group: 'Input',
    on: ['run'],
    doc: 'Send nothing and keep nothing: say what becomes of each seed, and which rule would take it.',
  }),
  retryFailures: toggle({
    flag: 'retry',
    default: false,
    group: 'Input',
    on: ['failures'],
    doc: 'Queue the listed requests again; the next `spoor crawl` takes them up.',
  }),
  onlyStatus: count({
    flag: 'status',
    default: undefined,
    min: 100,
    max: 999,
    group: 'Input',
    on: ['failures'],
    doc: 'Only those that were answered with this HTTP status.',
  }),
  onlyHost: text({
    flag: 'host',
    placeholder: 'HOST',
    default: undefined,
    group: 'Input',
    on: ['failures', 'cache'],
    doc: 'Only those of this host (with its port, when it is not the usual one).',
  }),
  yes: toggle({
    flag: 'yes',
    short: 'y',
    default: false,
    group: 'Input',
    on: ['clear'],
    doc: 'Do not ask.',
  }),
  base: text({
    flag: 'base',
    placeholder: 'URL',
    default: undefined,
    parse: parseHttpOption,
    group: 'Input',
    on: ['links', 'canon'],
    doc: 'What relative links are resolved against.',
  }),
  file: text({
    flag: 'file',
    placeholder: 'FILE',
    default: undefined,
    group: 'Input',
    on: ['robots'],
    doc: 'Judge by this robots.txt and fetch nothing; `-` is stdin.',
  }),
  agent: text({
    flag: 'agent',
    placeholder: 'UA',
    default: undefined,
    defaultText: 'that of --robots-agent',
    group: 'Input',
    on: ['robots'],
    doc: 'A product token or a whole User-Agent.',
  }),
  body: toggle({
    flag: 'body',
    default: false,
    group: 'Input',
    on: ['fetch'],
    doc: 'Write the body to stdout, decompressed, byte for byte.',
  }),
  trace: toggle({
    flag: 'trace',
    default: false,
    group: 'Input',
    on: ['fetch'],
    doc: 'Tell every step of every hop: cache, name, connection, TLS, headers both ways, robots.txt, timings. Credentials are not shown.',
  }),
  follow: toggle({
    flag: 'follow',
    default: true,
    group: 'Input',
    on: ['sitemap'],
    doc: 'List the sitemaps of an index instead of following them.',
  }),
  batch: toggle({
    flag: 'batch',
    default: false,
    group: 'Input',
    on: BATCH,
    doc: 'Many at once: JSON Lines of arguments on stdin, JSON Lines of answers on stdout, in the same order.',
  }),
  package: text({
    flag: 'package',
    placeholder: 'SPEC',
    default: undefined,
    defaultText: 'the version of this command',
    group: 'Input',
    on: ['init'],
    doc: 'What the project depends on as spoor: a version, or a tarball (file:/path/spoor.tgz), as npm takes it.',
  }),
  serveOnly: toggle({
    flag: 'serve',
    default: false,
    group: 'Input',
    on: ['demo'],
    doc: 'Only serve the demo site, until Ctrl-C, to try commands on it.',
  }),
} as const

export const GENERAL = {
  json: toggle({
    flag: 'json',
    default: false,
    group: 'General',
    on: ALL.filter((name) => name !== 'init' && name !== 'shell' && name !== 'completion'),
    doc: 'Print JSON on stdout (JSON Lines for a list).',
  }),
  quiet: toggle({
    flag: 'quiet',
    short: 'q',
    default: false,
    group: 'General',
    on: ALL,
    doc: 'No progress and no hints on stderr.',
  }),
  logLevel: choice({
    flag: 'log-level',
    choices: LOG_LEVELS,
    default: 'warn',
    group: 'General',
    on: ALL,
    doc: 'What is logged to stderr.',
  }),
  config: text({
    flag: 'config',
    placeholder: 'FILE',
    default: undefined,
    defaultText: 'spoor.config.ts, .mjs, .js or .json here, when there is one',
    group: 'General',
    on: ALL,
    doc: 'Read options from this file.',
  }),
  help: toggle({ flag: 'help', short: 'h', default: false, group: 'General', on: ALL, doc: 'Show this help.' }),
} as const
