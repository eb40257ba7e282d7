import { existsSync } from 'node:fs'
import { runDocuments } from './support/every-document.ts'

// The plainest shell that there is, beside bash.
runDocuments(existsSync('/bin/dash') ? '/bin/dash' : 'sh')
