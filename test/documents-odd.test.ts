import { runDocuments } from './support/every-document.ts'

runDocuments(1)
