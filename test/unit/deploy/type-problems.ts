/** Holds data against a TypeScript type: also a field that the type does not know is a problem. */

import { join } from 'node:path'
import ts from 'typescript'

const ROOT = join(import.meta.dirname, '../../..')
/** Lies in the project, so that packages are found; is never written. */
const FILE = join(ROOT, 'checked-data.ts')
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
}

export function typeProblemsOf(
  data: unknown,
  type: { readonly name: string; readonly from: string },
): readonly string[] {
  const source = `import type { ${type.name} } from '${type.from}'\nexport const data: ${type.name} = ${JSON.stringify(data)}\n`
  const host = ts.createCompilerHost(OPTIONS)
  const { getSourceFile, fileExists, readFile } = host
  host.getSourceFile = (name, target, ...rest) =>
    name === FILE ? ts.createSourceFile(name, source, target) : getSourceFile(name, target, ...rest)
  host.fileExists = (name) => name === FILE || fileExists(name)
  host.readFile = (name) => (name === FILE ? source : readFile(name))
  const program = ts.createProgram([FILE], OPTIONS, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
