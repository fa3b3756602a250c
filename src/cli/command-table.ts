/** The table of commands: what `--help` says of each, and where it is. */

import type { CommandSpec } from './command.ts'

const ANY = Number.MAX_SAFE_INTEGER

const CRAWLS: readonly CommandSpec[] = [
  {
    name: 'crawl',
    summary: 'crawl a site, or go on with a crawl that was stopped',
    usage: ['URL… [options]', '--seeds FILE [options]', '[options]   (goes on with the crawl in the data folder)'],
    details: [
      'Starts at the URLs, follows links, obeys robots.txt, and keeps everything in the data folder: what is known, what is done, what failed, and one item a page.',
      'The same command again goes on where it stopped, after Ctrl-C, a crash or a kill -9: no page is lost and none is fetched twice. A finished crawl does nothing; --fresh begins again.',
      'An item has the keys url, finalUrl, status, depth, title, contentType, bytes, links, fetchedAt, fromCache and, with --select, fields; -o writes them to a file while the crawl runs.',
      'The first Ctrl-C lets the requests in flight end; a second one stops at once. Both can be resumed.',
    ],
    examples: [
      { command: 'spoor crawl https://example.com/ -o pages.jsonl', does: 'crawl one site into a file' },
      {
        command: 'spoor crawl https://example.com/docs/ --scope prefix --depth 3',
        does: 'one part of it, three links deep',
      },
      { command: 'spoor crawl --seeds urls.txt --depth 0 --scope any', does: 'just the pages of a list' },
      {
        command: "spoor crawl https://example.com/ --select 'price=.price' --select 'image=img.main@src'",
        does: 'with fields of each page',
      },
      { command: 'spoor crawl --dir spoor-data', does: 'go on with what is in the folder' },
    ],
    positionals: { min: 0, max: ANY, name: 'URL' },
    load: async () => (await import('./commands/crawl.ts')).runCrawl,
  },
  {
    name: 'run',
    summary: 'run a crawler file: a task, tasks or a crawler with handlers, in TypeScript or JavaScript',
    usage: ['FILE [URL…] [options]', 'FILE [URL…] --dry-run'],
    details: [
      'The default export of FILE is a task (defineTask), a list of tasks or a Crawler. TypeScript needs no build; what the file imports as "spoor" is this command itself.',
      'It takes the options of "spoor crawl": a flag wins over what the file says, for all its tasks. URLs are where it begins, in place of the seeds of the task; with several tasks --task NAME says which one is run.',
      'Resumes as "spoor crawl" does. With --processes each worker process loads the file.',
      'Of several tasks, each has a file of its own: -o items.jsonl is items-NAME.jsonl.',
    ],
    examples: [
      { command: 'spoor run shop.ts', does: 'run all tasks of the file' },
      { command: 'spoor run shop.ts --dry-run', does: 'what would be fetched, and by which rule' },
      { command: 'spoor run crawler.ts https://example.com/ --depth 1 -o items.jsonl', does: 'begin at a URL' },
    ],
    positionals: { min: 1, max: ANY, name: 'FILE' },
    load: async () => (await import('./commands/run-file.ts')).runFile,
  },
  {
    name: 'status',
    summary: 'where the crawl stands',
    usage: ['[options]'],
    details: ['Reads the data folder, also while a crawl is running on it.'],
    examples: [
      { command: 'spoor status', does: 'of the crawl in spoor-data' },
      { command: 'spoor status --dir shop --json', does: 'as JSON' },
    ],
    positionals: { min: 0, max: 0, name: '' },
    load: async () => (await import('./commands/status.ts')).runStatus,
  },
  {
    name: 'failures',
    summary: 'list failed requests with every attempt, or queue them again',
    usage: ['[options]', '--retry [options]'],
    details: [
      'A failed page is kept with every attempt and the reason of each. With --retry the listed ones are queued again; the next `spoor crawl` takes them up.',
    ],
    examples: [
      { command: 'spoor failures', does: 'all of them' },
      { command: 'spoor failures --status 503 --retry', does: 'queue those answered with 503 again' },
      { command: 'spoor failures --host shop.example.com --json', does: 'of one host, as JSON Lines' },
    ],
    positionals: { min: 0, max: 0, name: '' },
    load: async () => (await import('./commands/failures.ts')).runFailures,
  },
  {
    name: 'why',
    summary: 'what the crawl knows of a URL, and why it was or was not fetched',
    usage: ['URL [options]'],
    details: ['Everything that a crawl leaves out has a reason: robots, scope, depth, duplicate, trap and so on.'],
    examples: [{ command: 'spoor why https://example.com/cart', does: 'for one URL' }],
    positionals: { min: 1, max: 1, name: 'URL' },
    load: async () => (await import('./commands/why.ts')).runWhy,
  },
  {
    name: 'export',
    summary: 'write the items to a file',
    usage: ['-o FILE [options]'],
    details: ['The whole list of items, from the data folder; the file is written beside and then put in place.'],
    examples: [
      { command: 'spoor export -o pages.csv', does: 'as CSV' },
      { command: 'spoor export -o - | head -3', does: 'JSON Lines on stdout' },
    ],
    positionals: { min: 0, max: 0, name: '' },
    load: async () => (await import('./commands/export.ts')).runExport,
  },
  {
    name: 'graph',
    summary: 'the link graph of a crawl: a file, or its figures',
    usage: ['-o FILE [options]', '--stats [options]'],
    details: [
      'Links are kept by a crawl with --graph; of one without it there are the URLs alone, and the page on which each was found.',
      'The ending of FILE says what is written: .dot (Graphviz), .graphml (Gephi, yEd), .csv (a line a link), .svg (a picture) and .html (a picture to search, move and click). --format nodes.csv is a line a URL.',
      '--stats tells what is linked most, which links are broken and where they are, what nothing leads to, how deep the pages lie, and where redirects lead.',
    ],
    examples: [
      { command: 'spoor crawl https://example.com/ --graph', does: 'a crawl that keeps its links' },
      { command: 'spoor graph -o site.graphml', does: 'for Gephi' },
      { command: 'spoor graph --stats --json', does: 'the figures for a script' },
    ],
    positionals: { min: 0, max: 0, name: '' },
    load: async () => (await import('./commands/graph.ts')).runGraph,
  },
  {
    name: 'report',
    summary: 'a page of HTML that tells of a crawl: what an audit of the site wants to know',
    usage: ['-o FILE.html [options]'],
    details: [
      'One file that needs nothing else: states, HTTP statuses and depths, failures with their tries, broken links with the pages they are on, redirects, orphans, pages that are slow, large, without a title or the same as others, and why URLs were not fetched.',
      'Of a crawl with --graph it has all of this; without, what the records of pages hold.',
    ],
    examples: [
      { command: 'spoor report -o report.html', does: 'of the crawl in the data folder' },
      { command: 'spoor report --task shop -o - > shop.html', does: 'of another one, to stdout' },
    ],
    positionals: { min: 0, max: 0, name: '' },
    load: async () => (await import('./commands/report.ts')).runReport,
  },
  {
    name: 'verify',
    summary: 'check the data folder',
    usage: ['[options]'],
    details: [
      'Checks every invariant that can be read from the data, as after a crash. Exits with 1 when one is broken.',
    ],
    examples: [{ command: 'spoor verify --json', does: '{"ok":true,"problems":[]} when all is well' }],
    positionals: { min: 0, max: 0, name: '' },
    load: async () => (await import('./commands/verify.ts')).runVerify,
  },
  {
    name: 'dashboard',
    summary: 'look at a crawl in the browser',
    usage: ['[HOST:PORT] [options]'],
    details: [
      'Serves a page about the crawl in the data folder or the shared store, until Ctrl-C: what is done, failed and waiting, workers, levels, failures with a button that queues them again, and the answer to "why was this URL not fetched?". Also while workers are busy on it.',
      'It listens on loopback, at port 4949 when nothing is said; any other address asks for a token. To pause, stop or pace a crawl, give `--dashboard` to the crawl itself.',
    ],
    examples: [
      { command: 'spoor dashboard', does: 'of the crawl in spoor-data' },
      { command: 'spoor dashboard 9000 --store postgres://spoor@db/spoor', does: 'of a crawl on many machines' },
    ],
    positionals: { min: 0, max: 1, name: 'HOST:PORT' },
    load: async () => (await import('./commands/dashboard.ts')).runDashboard,
  },
]

const UPKEEP: readonly CommandSpec[] = [
  {
    name: 'cache',
    summary: 'look at the download cache, tidy it, fill it from a WARC or write it to one',
    usage: [
      'ls [PREFIX] [--host HOST] [options]',
      'get URL [options]',
      'rm URL… | rm --host HOST [options]',
      'prune [--cache-ttl DUR] [--cache-max SIZE] [options]',
      'stats [options]',
      'import FILE.warc… [options]',
      'export FILE.warc [--host HOST] [options]',
    ],
    details: [
      'A crawl keeps every page that it downloads in its data folder and does not download it again while it is younger than --cache-ttl.',
      'ls lists what is there, get writes one body to stdout (with --json what is known of it), rm forgets single pages, prune those that are older than --cache-ttl and then the least recently used until --cache-max is kept; --cache-ttl 0 empties it.',
      'import takes the pages of WARC files, packed or not (`-` is stdin), so that `spoor crawl --cache offline` goes through an archive; export writes WARC 1.1.',
      'Without --cache-store it takes the cache that is there.',
    ],
    examples: [
      { command: 'spoor cache stats', does: 'how large it is and what it saves' },
      { command: 'spoor cache get https://example.com/logo.png > logo.png', does: 'one body' },
      { command: 'spoor cache prune --cache-ttl 7d --cache-max 10gb', does: 'forget what is old or too much' },
      {
        command: 'spoor cache import archive.warc.gz --dir old',
        does: 'and then: spoor crawl URL --cache offline --dir old',
      },
    ],
    positionals: {
      min: 1,
      max: ANY,
      name: 'ls, get, rm, prune, stats, import or export',
      choices: ['ls', 'get', 'rm', 'prune', 'stats', 'import', 'export'],
    },
    load: async () => (await import('./commands/cache.ts')).runCache,
  },
  {
    name: 'clear',
    summary: 'forget a crawl',
    usage: ['[--task NAME] [--yes] [options]'],
    details: [
      'Deletes what is known of the crawl: its requests, items, failures and cookies. Asks before it does so; without a terminal it wants --yes.',
      'Files that items were written to stay, and so does the download cache: the same crawl begun again downloads little. `spoor cache prune --cache-ttl 0` empties that.',
    ],
    examples: [
      { command: 'spoor clear', does: 'forget the crawl in spoor-data' },
      { command: 'spoor clear --dir shop --task monthly --yes', does: 'one task, without being asked' },
    ],
    positionals: { min: 0, max: 0, name: '' },
    load: async () => (await import('./commands/clear.ts')).runClear,
  },
]

const QUESTIONS: readonly CommandSpec[] = [
  {
    name: 'fetch',
    summary: 'one request, with its redirects, robots verdict and timings',
    usage: ['URL [options]', '--batch < URLS.jsonl'],
    details: [
      'Sends one request as a crawl would, follows its redirects and shows what came. robots.txt is not obeyed, its verdict is shown.',
      '--trace tells all that happens on the way: what the cache decides (with --dir), names, addresses, TLS, headers both ways, what robots.txt says of each hop, where the charset was found, and what each took. With --body it goes to stderr.',
      'With --batch: {"url"} a line on stdin.',
    ],
    examples: [
      { command: 'spoor fetch https://example.com/', does: 'what comes back' },
      { command: 'spoor fetch https://example.com/ --trace', does: 'each step of each hop' },
      { command: 'spoor fetch https://example.com/logo.png --body > logo.png', does: 'the body' },
    ],
    positionals: { min: 0, max: 1, name: 'URL' },
    load: async () => (await import('./commands/fetch.ts')).runFetch,
  },
  {
    name: 'shell',
    summary: 'a JavaScript prompt with a page at hand, to try selectors and follow links',
    usage: ['[URL] [options]', '[URL] [options] < LINES.js'],
    details: [
      'Fetches the URL, follows its redirects (robots.txt is not obeyed: you are looking yourself), and gives a prompt with await and these names: response, page, $ (cheerio), links, body as a handler has them; select(schema) takes data out of the page, select(CSS) one value; fetch(url) brings another page, relative to this one; view() shows the page in your browser.',
      'From a pipe it runs line by line, each when the one before has ended, and prints what each gives. The first error ends it with exit status 1.',
      'What was typed is remembered in spoor/shell-history of your state folder (XDG_STATE_HOME, or ~/.local/state). With --dir the pages come from the cache of a data folder, and are kept there.',
    ],
    examples: [
      {
        command: 'spoor shell https://example.com/',
        does: "and then: await select({ title: 'h1', links: ['a@href'] })",
      },
      { command: `echo '$("h2").text()' | spoor shell https://example.com/`, does: 'one answer, for a script' },
      { command: 'spoor shell https://example.com/ --dir shop --cache offline', does: 'the page as the crawl got it' },
    ],
    positionals: { min: 0, max: 1, name: 'URL' },
    load: async () => (await import('./commands/shell.ts')).runShell,
  },
  {
    name: 'links',
    summary: 'the links of a page',
    usage: ['FILE|URL [--base URL] [options]', '--batch < PAGES.jsonl'],
    details: [
      'What a crawl would see in the page: its links in document order, base, title, canonical URL, robots and refresh. `-` reads stdin.',
      'With --batch: {"html" or "bodyBase64","url","contentType"?} a line on stdin.',
    ],
    examples: [
      { command: 'spoor links page.html --base https://example.com/', does: 'of a file' },
      { command: 'spoor links https://example.com/ --json', does: 'of a page on the web' },
    ],
    positionals: { min: 0, max: 1, name: 'FILE or URL' },
    load: async () => (await import('./commands/links.ts')).runLinks,
  },
  {
    name: 'canon',
    summary: 'canonical form and fingerprint of URLs',
    usage: ['URL… [--base URL] [options]', '--batch < URLS.jsonl'],
    details: [
      'Two URLs with the same fingerprint are one page to a crawl. Bad ones say why.',
      'With --batch: {"url","base"?} a line on stdin.',
    ],
    examples: [{ command: "spoor canon 'HTTP://Example.com:80/%7Eann' --json", does: 'one URL' }],
    positionals: { min: 0, max: ANY, name: 'URL' },
    load: async () => (await import('./commands/canon.ts')).runCanon,
  },
  {
    name: 'robots',
    summary: 'what robots.txt says of a URL, and the rule it rests on',
    usage: ['URL [--agent UA] [options]', 'URL --file ROBOTS.TXT [--agent UA]', '--batch < QUESTIONS.jsonl'],
    details: [
      'Exits with 0 whether the URL is allowed or not; with 1 when robots.txt cannot be had.',
      'With --batch: {"robots" or "robotsBase64","url","agent"} a line on stdin.',
    ],
    examples: [
      { command: 'spoor robots https://example.com/private/', does: 'for spoor itself' },
      { command: 'spoor robots https://example.com/a --agent Googlebot --file robots.txt', does: 'by a file' },
    ],
    positionals: { min: 0, max: 1, name: 'URL' },
    load: async () => (await import('./commands/robots.ts')).runRobots,
  },
  {
    name: 'sitemap',
    summary: 'the URLs of a sitemap or index',
    usage: ['URL|FILE [options]'],
    details: ['XML sitemaps and indexes, RSS, Atom and text, also packed with gzip. `-` reads stdin.'],
    examples: [
      { command: 'spoor sitemap https://example.com/sitemap.xml', does: 'one URL a line' },
      { command: 'spoor sitemap https://example.com/sitemap.xml --no-follow --json', does: "an index's children" },
    ],
    positionals: { min: 1, max: 1, name: 'URL or FILE' },
    load: async () => (await import('./commands/sitemap.ts')).runSitemap,
  },
]

const STARTERS: readonly CommandSpec[] = [
  {
    name: 'demo',
    summary: 'crawl a bundled site, served here on loopback',
    usage: ['[options]'],
    details: [
      'Serves a small shop with a blog and a manual on 127.0.0.1 and crawls it into the data folder. Stop it and run it again to see it go on.',
      'The site has a dead link, redirects, a page that fails at first, a slow one, one in windows-1251, and parts that robots.txt keeps closed; so some pages fail, as on any site, and the demo ends well all the same.',
    ],
    examples: [
      { command: 'spoor demo', does: 'crawl it' },
      { command: 'spoor demo --fresh -o pages.csv', does: 'once more, into a file' },
      { command: 'spoor demo --serve', does: 'only serve it' },
    ],
    positionals: { min: 0, max: 0, name: '' },
    load: async () => (await import('./commands/demo.ts')).runDemo,
  },
  {
    name: 'init',
    summary: 'write a starter project',
    usage: ['[DIR] [--package SPEC]'],
    details: [
      'Writes package.json, crawler.ts, a test that runs it on saved pages, and a README into DIR (default: here). Nothing is overwritten.',
    ],
    examples: [{ command: 'spoor init my-crawler', does: 'and then: cd my-crawler && npm install && npm start' }],
    positionals: { min: 0, max: 1, name: 'DIR' },
    load: async () => (await import('./commands/init.ts')).runInit,
  },
  {
    name: 'doctor',
    summary: 'look at this machine as a crawl would meet it, and say what to do',
    usage: ['[URL] [options]'],
    details: [
      "Node.js, the limit of open files, the clock, name servers, TLS authorities, the data folder and its disk, the embedded database, a browser for --render, and the store of --store or --dir. With a URL one request is made: name, connection, TLS, and how far the clock is from the server's.",
      'A store of --store is opened as a crawl opens it: its tables are made where they are missing.',
      'Each line is ok, a warning or a problem, with what to do about it. Exits with 1 when there is a problem.',
    ],
    examples: [
      { command: 'spoor doctor', does: 'before the first crawl' },
      { command: 'spoor doctor https://example.com/', does: 'and the way to a site' },
      { command: 'spoor doctor --store postgres://spoor@db/spoor --json', does: 'a shared store, for a script' },
    ],
    positionals: { min: 0, max: 1, name: 'URL' },
    load: async () => (await import('./commands/doctor.ts')).runDoctor,
  },
  {
    name: 'completion',
    summary: 'the script by which bash, zsh or fish complete commands and options',
    usage: ['bash|zsh|fish'],
    details: [
      'Made from the tables of commands and options, so that it knows all of them. Make it anew after an update.',
    ],
    examples: [
      { command: 'source <(spoor completion bash)', does: 'in ~/.bashrc' },
      { command: 'spoor completion zsh > ~/.zfunc/_spoor', does: 'in a folder of $fpath, before compinit' },
      { command: 'spoor completion fish > ~/.config/fish/completions/spoor.fish', does: 'once' },
    ],
    positionals: { min: 1, max: 1, name: 'bash, zsh or fish', choices: ['bash', 'zsh', 'fish'] },
    load: async () => (await import('./commands/completion.ts')).completionOf(COMMANDS),
  },
]

export const COMMANDS: readonly CommandSpec[] = [...CRAWLS, ...UPKEEP, ...QUESTIONS, ...STARTERS]
