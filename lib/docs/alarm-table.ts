import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { CfnAlarm } from 'aws-cdk-lib/aws-cloudwatch'
import { ReelgateStack } from '../aws/reelgate-stack.ts'
import { loadGatewayConfig } from '../config/load-gateway-config.ts'
import { CLOUDFRONT_REGION } from '../config/platform-facts.ts'
import { readStageSettings } from '../config/stage-settings.ts'
import { alarmCondition } from './alarm-condition.ts'
import { markdownTable } from './markdown-table.ts'

const STACK_NAME = 'Reelgate-prod'

/** With everything that has an alarm. */
const SETTINGS: ReadonlyMap<string, string> = new Map([
  ['stage', 'prod'],
  ['relay', 'web'],
  ['frontDoorWebAclArn', 'arn:aws:wafv2:us-east-1:111111111111:global/webacl/any/any'],
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
    const [, name = '', channel] = new RegExp(`^${STACK_NAME}-([A-Za-z]+)\\d*(-.+)?$`).exec(alarm.alarmName ?? '') ?? []
    const [meaning = ''] = (alarm.alarmDescription ?? '').split(/ Channel: | Runbook: /)
    const title = `[${name}](#${name.toLowerCase()})${channel === undefined ? '' : ', one per channel'}`
    rows.set(name, [title, meaning, alarmCondition(alarm)])
  }
  return markdownTable(['Alarm', 'Meaning', 'Threshold'], [...rows.values()])
}

function shippedAlarms(root: string): readonly CfnAlarm[] {
  const outdir = mkdtempSync(join(tmpdir(), 'reelgate-alarms-'))
  try {
    const app = new App({ outdir, context: { 'aws:cdk:bundling-stacks': [] }, stackTraces: false })
    const stack = new ReelgateStack(app, STACK_NAME, {
      ...loadGatewayConfig({
        file: join(root, 'config', 'gateway.yaml'),
        environment: Object.fromEntries(BASE_URLS.map((name) => [name, 'https://upstream.example/v1'])),
        mode: 'synth',
      }),
      // The alarm of the front door is in the stack of a stage only there.
      env: { region: CLOUDFRONT_REGION },
      settings: readStageSettings((name) => SETTINGS.get(name)),
    })
    return stack.node.findAll().filter((each) => each instanceof CfnAlarm)
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}
