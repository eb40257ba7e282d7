import { runDocuments } from './support/every-document.ts'

runDocuments('bash')
