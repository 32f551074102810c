import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configJsonSchema } from '../config/load-gateway-config.ts'
import { adminDocumentText } from '../openapi/admin/admin-document.ts'
import { openapiText } from '../openapi/openapi-document.ts'
import { alarmTable } from './alarm-table.ts'
import { commandTable } from './command-table.ts'
import { withSection } from './generated-section.ts'
import { settingsTable } from './settings-table.ts'
import { stateDiagramBlock } from './state-diagram.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** A committed file, or a section of one, that a command generates from other files of the repository. */
export type GeneratedFile = {
  /** Relative to the root. */
  readonly path: string
  /** The script of package.json that writes it. */
  readonly command: 'openapi' | 'diagram' | 'schema' | 'tables'
  /** What the whole file must contain. */
  readonly content: () => string
}

/** Every generated file of the repository. `npm run check:generated` compares each with its sources. */
export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: 'openapi.json', command: 'openapi', content: openapiText },
  { path: 'admin-openapi.json', command: 'openapi', content: adminDocumentText },
  section('docs/architecture.md', {
    name: 'state machine',
    command: 'diagram',
    content: () => stateDiagramBlock(read('lambdas/pipeline/video-job.asl.json')),
  }),
  section('docs/deploy.md', { name: 'settings', command: 'tables', content: settingsTable }),
  section('docs/operate.md', { name: 'commands', command: 'tables', content: commandTable }),
  section('docs/runbook.md', { name: 'alarms', command: 'tables', content: () => alarmTable(ROOT) }),
  { path: 'config/gateway.schema.json', command: 'schema', content: configJsonSchema },
]

function section(
  path: string,
  { content, ...part }: Omit<GeneratedFile, 'path'> & { readonly name: string },
): GeneratedFile {
  return { path, command: part.command, content: () => withSection(read(path), { ...part, content: content() }) }
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** The file as committed; empty if it does not exist. */
export function committedContent({ path }: GeneratedFile): string {
  try {
    return read(path)
  } catch {
    return ''
  }
}

/** Writes the files of one command and prints which have changed. */
export function writeGenerated(command: GeneratedFile['command']): void {
  for (const file of GENERATED_FILES.filter((each) => each.command === command)) {
    const content = file.content()
    const isChanged = committedContent(file) !== content
    if (isChanged) {
      writeFileSync(join(ROOT, file.path), content)
    }
    console.log(`${file.path} ${isChanged ? 'written' : 'is up to date'}`)
  }
}
