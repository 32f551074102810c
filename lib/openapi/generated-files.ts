import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultOf, PROFILES, SETTINGS } from '../config/context-settings.ts'
import { FUNCTION_VARIABLES } from '../config/function-variables.ts'
import { CONFIGURATION_FILE, loadGatewayConfig } from '../config/load-gateway-config.ts'
import { type AlarmDefinition, alarmDefinitions, anchorOf, conditionOf } from '../stack/alarm-definitions.ts'
import { FACT_ROWS, MEASURE_ROWS } from '../stack/metric-definitions.ts'
import { adminDocumentText } from './admin-document.ts'
import { code, markdownTable, withSection } from './markdown.ts'
import { openapiText } from './openapi-document.ts'
import { stateDiagramBlock } from './state-diagram.ts'

/** Name, meaning and condition of every alarm, in the order of the runbook. Alarms of several channels share a row and an entry. */
function alarmTable(): string {
  const rows = new Map(
    shippedAlarms().map((alarm) => {
      const title = `[${alarm.name}](${anchorOf(alarm)})${alarm.channel === undefined ? '' : ', one per channel'}`
      return [alarm.name, [title, alarm.meaning, conditionOf(alarm)]]
    }),
  )
  return markdownTable(['Alarm', 'Meaning', 'Threshold'], [...rows.values()])
}

/**
 * The runbook with the condition of each alarm in its entry, and the table of all.
 * @throws TypeError for an alarm without an entry.
 */
function runbook(page: string): string {
  let written = withSection(page, { name: 'alarms', command: 'tables', content: alarmTable() })
  for (const alarm of shippedAlarms()) {
    const begin = `\n### ${alarm.name}\n\n- When: `
    const from = written.indexOf(begin) + begin.length
    if (from < begin.length) {
      throw new TypeError(`the runbook has no entry "${begin.trim()}"`)
    }
    written = `${written.slice(0, from)}${conditionOf(alarm)}${written.slice(written.indexOf('.', from))}`
  }
  return written
}

/** The alarms of the shipped configuration. */
function shippedAlarms(): readonly AlarmDefinition[] {
  return alarmDefinitions(
    loadGatewayConfig({ file: join(ROOT, CONFIGURATION_FILE), environment: {}, mode: 'local' }).config,
  )
}

/** Every variable of functions. */
function variableTable(): string {
  return markdownTable(['Variable', 'Meaning'], Object.entries(FUNCTION_VARIABLES).map(withCode))
}

/** Every counted fact. */
function factTable(): string {
  return markdownTable(['Fact', 'By', 'Meaning', 'What to do'], FACT_ROWS.map(withCode))
}

/** Every measure. */
function measureTable(): string {
  return markdownTable(['Metric', 'Unit', 'In its line', 'Meaning'], MEASURE_ROWS.map(withCode))
}

function withCode([name, ...cells]: (typeof FACT_ROWS)[number]): readonly string[] {
  return [code(name), ...cells]
}

/** Every context setting with its defaults and its meaning, as a Markdown table. */
export function settingsTable(): string {
  const rows = Object.entries(SETTINGS).map(([key, one]) => {
    // Stage and profile select the column.
    const isSelector = key === 'stage' || key === 'profile'
    const defaults = PROFILES.map((profile) => (isSelector ? '' : shown(defaultOf(one, profile))))
    return [code(key), ...defaults, one.meaning]
  })
  return markdownTable(['Setting', 'Default in dev', 'Default in prod', 'Meaning'], rows)
}

function shown(value: string | number | boolean | undefined): string {
  if (value === undefined) {
    return 'none'
  }
  return typeof value === 'number' ? value.toLocaleString('en') : code(String(value))
}

const ROOT = join(import.meta.dirname, '..', '..')

/** A committed file, or a section of one, that a command generates from other files of the repository. */
export type GeneratedFile = {
  /** Relative to the root. */
  readonly path: string
  /** The script of package.json that writes it. */
  readonly command: 'openapi' | 'diagram' | 'tables'
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
  section('docs/configuration.md', { name: 'variables', command: 'tables', content: variableTable }),
  section('docs/deploy.md', { name: 'settings', command: 'tables', content: settingsTable }),
  section('docs/operate.md', { name: 'facts', command: 'tables', content: factTable }),
  section('docs/operate.md', { name: 'measures', command: 'tables', content: measureTable }),
  { path: 'docs/runbook.md', command: 'tables', content: () => runbook(read('docs/runbook.md')) },
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
