/** The short form of the comparison: Spoor beside wget2 on the generated site. */

import { comparePeers } from './lib/compare.ts'
import { readOptions } from './lib/options.ts'

if (!(await comparePeers(readOptions({ sites: 'B', peers: ['wget2', 'spoor'] })))) process.exitCode = 1
