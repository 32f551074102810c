import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { FUNCTION_TIMEOUT_SECONDS, stackName } from '../../lib/config/platform-facts.ts'

const definition: unknown = JSON.parse(
  readFileSync(new URL('../../lambdas/pipeline/video-job.asl.json', import.meta.url), 'utf8'),
)

describe('FUNCTION_TIMEOUT_SECONDS', () => {
  it('ends a function before API Gateway gives up and before the next minute of Reconcile', () => {
    expect(FUNCTION_TIMEOUT_SECONDS.api).toBeLessThanOrEqual(29)
    expect(FUNCTION_TIMEOUT_SECONDS.reconcile).toBeLessThan(60)
    expect(Math.max(...Object.values(FUNCTION_TIMEOUT_SECONDS))).toBeLessThanOrEqual(900)
  })

  it('ends every function ten seconds before its task of the state machine', () => {
    const tasks = Object.values(Object(definition).States).filter((state) => Object(state).Type === 'Task')
    const seconds = tasks.map((task) => Number(Object(task).TimeoutSeconds))
    const { api: _api, relay: _relay, reconcile: _reconcile, ...steps } = FUNCTION_TIMEOUT_SECONDS
    expect(new Set(seconds)).toStrictEqual(new Set(Object.values(steps).map((timeout) => timeout + 10)))
  })
})

describe('stackName', () => {
  it('is the same for every release: another one would be a new stack without the data', () => {
    expect(stackName('dev')).toBe('Reelgate-dev')
  })
})
