import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { usageOf } from '../cli/admin/command-line.ts'
import { COMMANDS } from '../cli/admin/commands.ts'
import { type ContextKey, contextSchema } from '../config/context-settings.ts'
import { configJsonSchema, loadGatewayConfig } from '../config/load-gateway-config.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import { PROFILE_DEFAULTS, readStageSettings } from '../config/stage-settings.ts'
import type { AlarmDefinition } from '../stack/alarm-definition.ts'
import { ReelgateStack } from '../stack/reelgate-stack.ts'
import { adminDocumentText } from './admin-document.ts'
import { code, markdownTable, withSection } from './markdown.ts'
import { openapiText } from './openapi-document.ts'
import { stateDiagramBlock } from './state-diagram.ts'

/** With everything that has an alarm. */
const SETTINGS: ReadonlyMap<string, string> = new Map([
  ['stage', 'prod'],
  ['relay', 'web'],
])

/** Without these the deployment leaves the channels out. */
const BASE_URLS = ['P1', 'P2_DIRECT', 'P2_INTERNATIONAL', 'P2_PROXY', 'RELAY'].map((name) => `${name}_BASE_URL`)

/**
 * Name, meaning and threshold of every alarm of the shipped configuration in `prod`, in the order of the runbook. Alarms that
 * share an entry of the runbook share a row.
 */
export function alarmTable(root: string): string {
  const rows = new Map<string, readonly string[]>()
  for (const alarm of shippedAlarms(root)) {
    const { name, channel, meaning } = alarm
    const title = `[${name}](#${name.toLowerCase()})${channel === undefined ? '' : ', one per channel'}`
    rows.set(name, [title, meaning, conditionOf(alarm)])
  }
  return markdownTable(['Alarm', 'Meaning', 'Threshold'], [...rows.values()])
}

/** When an alarm rings, such as `10 % of at least 20 in 5 min, 2 periods in a row`. */
function conditionOf({ metric, threshold, unit, minimum, periods = 1, isSilenceBad }: AlarmDefinition): string {
  const { metricStat, mathExpression } = metric.toMetricConfig()
  const seconds = metricStat?.period.toSeconds() ?? mathExpression?.period ?? 0
  const { statistic = 'Sum' } = metricStat ?? {}
  return [
    `${isSilenceBad ? 'below ' : ''}${statistic === 'Sum' ? '' : `${statistic.replace('Maximum', 'maximum')} `}`,
    `${threshold.toLocaleString('en')}${unit === undefined ? '' : ` ${unit}`}`,
    minimum === undefined ? '' : ` ${minimum}`,
    ` in ${seconds / 60} min`,
    periods === 1 ? '' : `, ${periods} periods in a row`,
  ].join('')
}

function shippedAlarms(root: string): readonly AlarmDefinition[] {
  const outdir = mkdtempSync(join(tmpdir(), 'reelgate-alarms-'))
  try {
    const app = new App({ outdir, context: { 'aws:cdk:bundling-stacks': [] }, stackTraces: false })
    const { alarms } = new ReelgateStack(app, 'Reelgate-prod', {
      ...loadGatewayConfig({
        file: join(root, 'config', 'gateway.yaml'),
        environment: Object.fromEntries(BASE_URLS.map((name) => [name, 'https://upstream.example/v1'])),
        mode: 'synth',
      }),
      // The alarm of the front door is in the stack of a stage only there.
      env: { region: CLOUDFRONT_REGION },
      settings: readStageSettings((name) => SETTINGS.get(name)),
    })
    return alarms?.definitions ?? []
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}

/** Every admin command with its usage and summary, in the order of the help. */
export function commandTable(): string {
  return markdownTable(
    ['Command', 'Does'],
    COMMANDS.map((command) => [code(usageOf(command)), command.summary]),
  )
}

const KEYS = Object.keys(contextSchema.shape).map((key) => contextSchema.keyof().parse(key))

/** Every context setting with its defaults and its description, as a Markdown table. */
export function settingsTable(): string {
  const rows = KEYS.map((key) => {
    const { description = '' } = contextSchema.shape[key].meta() ?? {}
    return [code(key), defaultOf(key, 'dev'), defaultOf(key, 'prod'), description]
  })
  return markdownTable(['Setting', 'Default in dev', 'Default in prod', 'Meaning'], rows)
}

/** Stage and profile select the column and have no default in one. */
function defaultOf(key: ContextKey, profile: keyof typeof PROFILE_DEFAULTS): string {
  if (key === 'stage' || key === 'profile') {
    return ''
  }
  const defaults: Partial<Record<ContextKey, unknown>> = PROFILE_DEFAULTS[profile]
  const value = defaults[key] ?? contextSchema.shape[key].safeParse(undefined).data
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
