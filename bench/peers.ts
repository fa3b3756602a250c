/** Spoor beside the crawlers that people would otherwise use: same sites, same machine, each at its best settings. */

import { comparePeers } from './lib/compare.ts'
import { USUAL_PEERS, readOptions } from './lib/options.ts'

if (!(await comparePeers(readOptions({ sites: 'A,B,H', peers: USUAL_PEERS })))) process.exitCode = 1
