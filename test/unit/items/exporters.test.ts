import { describe, it } from 'vitest'
import { formatNamed } from '../../../src/items/formats.ts'
import { exporterSuite } from '../../../src/testing/exporter-suite.ts'
import { openDatabase, readCsv, readJsonl, readParquet, readSqlite } from './read-export.ts'

const runner = { describe, it }

exporterSuite({ runner, format: formatNamed('jsonl'), read: readJsonl })
exporterSuite({ runner, format: formatNamed('csv'), read: readCsv })
exporterSuite({ runner, format: formatNamed('sqlite', openDatabase), read: readSqlite, isRowOfBytes: false })
exporterSuite({ runner, format: formatNamed('parquet'), read: readParquet })
