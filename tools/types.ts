import { readFileSync, writeFileSync } from 'node:fs'
import ts from 'typescript'

/**
 * Writes the declarations of what `import 'kontor'` gives, before the package is packed. These two files say all of their
 * types themselves, so that nothing of the inside has to be declared.
 */
const PUBLIC = ['src/kontor', 'src/worlds/public'] as const
const root = new URL('../../', import.meta.url)

for (const file of PUBLIC) {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(
    readFileSync(new URL(`${file}.ts`, root), 'utf8'),
    {
      fileName: `${file}.ts`,
      reportDiagnostics: true,
      compilerOptions: { isolatedDeclarations: true, declaration: true, module: ts.ModuleKind.NodeNext },
    },
  )
  if (diagnostics.length > 0) {
    const messages = diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    throw new Error(`${file}.ts: ${messages.join('; ')}`)
  }
  // Beside it lies JavaScript.
  const text = outputText.replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'")
  writeFileSync(new URL(`dist/${file}.d.ts`, root), text)
}
