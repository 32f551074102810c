import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { resourcesOf, stageSettings, synthesizeStack } from './synthesize-stack.ts'

const OPERATE_PAGE = readFileSync(new URL('../../docs/operate.md', import.meta.url), 'utf8')

/** AWS keeps this much for functions without a reservation (Lambda developer guide, "Configuring reserved concurrency"). */
const UNRESERVED_MIN = 100
const QUOTA = 1_000

/** The settings that the page recommends, by name. */
const recommended = Object.fromEntries(
  [...OPERATE_PAGE.matchAll(/-c ((?:api|pipeline|reconcile)ReservedConcurrency)=(\d+)/g)].map(([, name, value]) => [
    name,
    value,
  ]),
)

describe('reelgate-stack: the reserved concurrency that docs/operate.md recommends', () => {
  const functions = resourcesOf(
    synthesizeStack({ settings: stageSettings({ ...recommended, console: 'on' }) }),
    'AWS::Lambda::Function',
  )
  const reserved = functions.flatMap(({ properties }) => properties.ReservedConcurrentExecutions ?? [])

  it('reserves instances for every function that tenants can occupy', () => {
    expect(Object.keys(recommended)).toEqual(['apiReservedConcurrency'])
    // All but those that work at deployments alone: they make the CDN's keys and write the console's files.
    expect(reserved).toHaveLength(functions.length - 2)
  })

  it('fits a quota of 1,000, and adds up to the documented total', () => {
    const sum = reserved.reduce((total, own) => total + own, 0)
    expect(sum).toBeLessThanOrEqual(QUOTA - UNRESERVED_MIN)
    expect(OPERATE_PAGE).toContain(`reserves ${sum} of 1,000`)
  })
})
