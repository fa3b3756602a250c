/** Options that tell endless spaces of URLs from large sites; the keys are those of the rules' limits. */

import { count, toggle } from '../option-row.ts'
import { CRAWL } from './commands.ts'

const ROW = { group: 'Crawler traps', on: CRAWL } as const

export const TRAPS = {
  traps: toggle({ flag: 'traps', default: true, ...ROW, doc: 'Do not look out for crawler traps at all.' }),
  maxPathSegments: count({
    flag: 'trap-path-segments',
    default: 32,
    min: 1,
    ...ROW,
    doc: 'Segments of a path.',
  }),
  maxSegmentRepeats: count({
    flag: 'trap-segment-repeats',
    default: 8,
    min: 1,
    ...ROW,
    doc: 'How often one segment may stand in a path.',
  }),
  maxShuffledPaths: count({
    flag: 'trap-shuffled-paths',
    default: 500,
    ...ROW,
    doc: 'Paths of a host made of the same few words again and again.',
  }),
  maxLongUrls: count({
    flag: 'trap-long-urls',
    default: 500,
    ...ROW,
    doc: 'URLs of a host with a path over 512 or a query over 1,024 characters.',
  }),
  maxParameters: count({ flag: 'trap-parameters', default: 100, min: 1, ...ROW, doc: 'Parameters of a query.' }),
  maxParameterRepeats: count({
    flag: 'trap-parameter-repeats',
    default: 6,
    min: 1,
    ...ROW,
    doc: 'How often one name=value may stand in a query.',
  }),
  maxEscapeNesting: count({
    flag: 'trap-escape-nesting',
    default: 2,
    min: 1,
    ...ROW,
    doc: 'Levels of escaped escapes; %2525 has two.',
  }),
  maxParameterRows: count({
    flag: 'trap-parameter-rows',
    default: 200,
    ...ROW,
    doc: 'Different rows of parameter names that one path of a host is asked with.',
  }),
  maxSessions: count({
    flag: 'trap-sessions',
    default: 4,
    ...ROW,
    doc: 'Session ids under which one page is met.',
  }),
  maxFarDates: count({
    flag: 'trap-far-dates',
    default: 300,
    ...ROW,
    doc: 'Pages of a host about dates far ahead, or in a calendar long ago.',
  }),
  maxSameContent: count({
    flag: 'trap-same-content',
    default: 100,
    ...ROW,
    doc: 'URLs of a host with one and the same content whose links are followed.',
  }),
} as const
