import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configJsonSchema } from '../config/config-json-schema.ts'
import { openapiDocument, openapiText } from '../openapi/openapi-document.ts'
import { referencePage } from './reference-page.ts'
import { withStateDiagram } from './state-diagram.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** A committed file, or a part of one, that a command writes from other files of the repository. */
export type GeneratedFile = {
  /** Relative to the root. */
  readonly path: string
  /** The script of package.json that writes it. */
  readonly command: 'openapi' | 'diagram' | 'schema'
  /** What the whole file has to be. */
  readonly content: () => string
}

/** Every generated file of the repository: `npm run check:generated` holds each to what it comes from. */
export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: 'openapi.json', command: 'openapi', content: openapiText },
  { path: 'docs/reference.md', command: 'openapi', content: () => referencePage(openapiDocument()) },
  {
    path: 'docs/architecture.md',
    command: 'diagram',
    content: () => withStateDiagram(read('docs/architecture.md'), read('lambdas/pipeline/video-job.asl.json')),
  },
  { path: 'config/gateway.schema.json', command: 'schema', content: configJsonSchema },
]

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** The file as it is; empty if it is not there. */
export function committedContent({ path }: GeneratedFile): string {
  try {
    return read(path)
  } catch {
    return ''
  }
}

/** Where the file lies. */
export function absolutePath({ path }: GeneratedFile): string {
  return join(ROOT, path)
}
