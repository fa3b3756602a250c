// Layers, lowest first. A file may import its own layer's folder and lower layers only.
//   util < core < domains < (engine | stores | fetch adapters) < crawler < shells (cli, dashboard, cluster)
const DOMAINS =
  'url|config|frontier|politeness|robots|fetch|cache|warc|extract|graph|rules|items|sources|tasks|recrawl|failures|stats'
const ADAPTERS = '^src/(stores/[^/]+|fetch/http|fetch/browser)/'
const SHELLS = '^src/(cli|dashboard|cluster)/'
const CONTRACT = `^src/(${DOMAINS})/contract[.]ts$`

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'No cycle, type imports included.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'A file that nothing reaches is dead.',
      from: { orphan: true, path: '^src/', pathNot: ['^src/cli/main[.]ts$', '^src/cluster/process-main[.]ts$'] },
      to: {},
    },
    { name: 'unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'util-knows-nothing',
      severity: 'error',
      comment: 'util may import util and node: only.',
      from: { path: '^src/util/' },
      to: { path: '^src/', pathNot: '^src/util/' },
    },
    {
      name: 'core-knows-util',
      severity: 'error',
      comment: 'core may import core and util.',
      from: { path: '^src/core/' },
      to: { path: '^src/', pathNot: '^src/(core|util)/' },
    },
    {
      name: 'contracts-are-types',
      severity: 'error',
      comment: 'A contract is only ever imported with `import type`.',
      from: {},
      to: { path: CONTRACT, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'contracts-know-core',
      severity: 'error',
      comment: 'A contract may import core and other contracts, as types.',
      from: { path: CONTRACT },
      to: { path: '^src/', pathNot: ['^src/core/', CONTRACT] },
    },
    {
      name: 'domains-meet-at-contracts',
      severity: 'error',
      comment: 'A domain may import util, core, itself, and the contract of another domain.',
      from: { path: `^src/(${DOMAINS})/`, pathNot: ADAPTERS },
      to: { path: '^src/', pathNot: ['^src/(util|core)/', '^src/$1/', CONTRACT] },
    },
    {
      name: 'domains-know-no-adapter',
      severity: 'error',
      comment: 'fetch/ may not reach down into fetch/http or fetch/browser.',
      from: { path: `^src/(${DOMAINS})/`, pathNot: ADAPTERS },
      to: { path: ADAPTERS },
    },
    {
      name: 'adapters-are-siblings',
      severity: 'error',
      comment: 'One backend never imports another.',
      from: { path: ADAPTERS },
      to: { path: ADAPTERS, pathNot: '^src/$1/' },
    },
    {
      name: 'adapters-know-domains',
      severity: 'error',
      comment: 'An adapter may import domains, core, util and itself.',
      from: { path: ADAPTERS },
      to: { path: `^src/(engine|crawler|cli|dashboard|cluster|testing|index[.]ts)` },
    },
    {
      name: 'engine-knows-no-adapter',
      severity: 'error',
      comment: 'The engine sees contracts; compose.ts hands it the rest.',
      from: { path: '^src/engine/' },
      to: { path: [ADAPTERS, '^src/(config|crawler|testing)/', SHELLS] },
    },
    {
      name: 'only-compose-wires',
      severity: 'error',
      comment: 'Only crawler/compose.ts may import an adapter.',
      from: { path: '^src/', pathNot: ['^src/crawler/compose[.]ts$', ADAPTERS, '^src/testing/'] },
      to: { path: ADAPTERS },
    },
    { name: 'crawler-knows-no-shell', severity: 'error', from: { path: '^src/crawler/' }, to: { path: SHELLS } },
    {
      name: 'shells-use-the-crawler',
      severity: 'error',
      comment: 'Shells may import crawler, config, core, util, stats, tasks and contracts.',
      from: { path: SHELLS },
      to: { path: '^src/', pathNot: [SHELLS, '^src/(crawler|config|core|util|stats|tasks)/', CONTRACT] },
    },
    {
      name: 'shells-do-not-know-the-cli',
      severity: 'error',
      from: { path: '^src/(dashboard|cluster)/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'nobody-imports-testing',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: { path: '^src/testing/' },
    },
    {
      name: 'testing-knows-contracts',
      severity: 'error',
      comment: 'But for replays, which run what people have written.',
      from: { path: '^src/testing/', pathNot: '^src/testing/replay/' },
      to: { path: '^src/', pathNot: ['^src/(testing|core|util)/', '^src/stores/contract[.]ts$', CONTRACT] },
    },
    { name: 'nobody-imports-the-index', severity: 'error', from: { path: '^src/' }, to: { path: '^src/index[.]ts$' } },
    {
      name: 'src-knows-no-test',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|examples|scripts)/' },
    },
    {
      name: 'pure-stays-pure',
      severity: 'error',
      comment: 'Policy code does no I/O: it can be tested with a table and fuzzed.',
      from: {
        path: '^src/(core|url|politeness|extract)/|^src/cache/(policy|freshness|cache-control|cache-key)[.]ts$|^src/robots/(parse|match)[.]ts$|^src/failures/(classify|retry-policy)[.]ts$',
        pathNot: '^src/core/(clock|logger)[.]ts$',
      },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|util|url|buffer)$' },
    },
    // one driver, one folder
    ...[
      ['pg', 'stores/postgres'],
      ['ioredis', 'stores/redis'],
      ['mongodb', 'stores/mongodb'],
      ['@photostructure/sqlite', 'stores/(sqlite|sqlite-cache|sqlite-driver[.]ts)'],
      ['undici', 'fetch/http'],
      ['playwright-core', 'fetch/browser'],
    ].map(([pkg, folder]) => ({
      name: `only-${folder.replace('/', '-')}-imports-${pkg}`,
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/${folder}/` },
      to: { path: `(^|node_modules/)${pkg}(/|$)`, dependencyTypesNot: ['local'] },
    })),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    detectProcessBuiltinModuleCalls: true,
  },
}
