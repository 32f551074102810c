import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import type { AlarmDefinition } from '../aws/alarm-definition.ts'
import { ReelgateStack } from '../aws/reelgate-stack.ts'
import { loadGatewayConfig } from '../config/load-gateway-config.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import { readStageSettings } from '../config/stage-settings.ts'
import { markdownTable } from './markdown-table.ts'

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
