import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import { GatewayApi } from '#aws/gateway-api.ts'
import { functionsBelow, GatewayFunction } from '#aws/gateway-function.ts'
import { JobTable } from '#aws/job-table.ts'
import { ReconcileSchedule } from '#aws/reconcile-schedule.ts'
import { ServiceAlarms } from '#aws/service-alarms.ts'
import { VideoPipeline } from '#aws/video-pipeline.ts'
import { watchedBy } from '../observability/watched-metrics.ts'
import { createStack, resourcesOf, shippedConfiguration } from './synthesize-stack.ts'

const RELAYED = /^api\/create-(chat-completion|completion|embedding|image)$/

/** Alarms of a stack whose API has got more functions than one alarm can look at, and those functions. */
function watchManyFunctions() {
  const stack = createStack()
  const parts = stack.node.findAll()
  const [api] = parts.filter((each) => each instanceof GatewayApi)
  const [pipeline] = parts.filter((each) => each instanceof VideoPipeline)
  const [reconcile] = parts.filter((each) => each instanceof ReconcileSchedule)
  const [table] = parts.filter((each) => each instanceof JobTable)
  if (api === undefined || pipeline === undefined || reconcile === undefined || table === undefined) {
    throw new Error('the stack has other parts')
  }
  const sources = { root: REPOSITORY_ROOT, configurationFile: '' }
  const size = { timeoutSeconds: 29, memoryMegabytes: 128 }
  for (let index = 0; index < 15; index += 1) {
    new GatewayFunction(api, `More${index}`, { sources, folder: 'api/fallback', ...size, files: [] })
  }
  new ServiceAlarms(stack, 'Grown', { api, pipeline, reconcile, table, config: shippedConfiguration.config })
  const functions = functionsBelow(api).filter(({ folder }) => !RELAYED.test(folder))
  return {
    functions: functions.map((each) => stack.resolve(each.function.functionName)),
    alarms: resourcesOf(Template.fromStack(stack), 'AWS::CloudWatch::Alarm')
      .filter(({ id, properties }) => id.startsWith('Grown') && /ApiThrottled\d*$/.test(properties.AlarmName))
      .map(({ properties }) => properties),
  }
}

describe('platform-alarms: more functions than the limit of one alarm', () => {
  const { functions, alarms: throttled } = watchManyFunctions()
  const watched = throttled.map((alarm) => watchedBy(alarm).map(({ dimensions }) => dimensions.FunctionName))

  it('cover every function once, with at most ten per alarm', () => {
    expect(functions.length).toBeGreaterThan(20)
    expect(watched.flat()).toEqual(functions)
    expect(Math.max(...watched.map(({ length }) => length))).toBeLessThanOrEqual(10)
  })

  it('are numbered from the second on, and link to one runbook entry', () => {
    expect(throttled.slice(0, 3).map(({ AlarmName }) => AlarmName)).toEqual(
      ['ApiThrottled', 'ApiThrottled2', 'ApiThrottled3'].map((name) => `Reelgate-test-${name}`),
    )
    for (const { AlarmDescription, Threshold, AlarmActions } of throttled) {
      expect(AlarmDescription).toMatch(/ Runbook: docs\/runbook\.md#apithrottled$/)
      expect([Threshold, AlarmActions]).toEqual([1, [{ Ref: expect.stringMatching(/^GrownTopic/) }]])
    }
  })
})
