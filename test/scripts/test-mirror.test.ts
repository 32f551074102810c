import { describe, expect, it } from 'vitest'
import type { SourceFacts } from '../../scripts/source-facts.ts'
import { mirrorProblems } from '../../scripts/test-mirror.ts'

interface Repository {
  sources?: Record<string, Partial<SourceFacts>>
  documents?: string[]
  tests?: string[]
}

/** The files that break a rule. A source file has behaviour unless its facts say otherwise. */
function problemsOf({ sources = {}, documents = [], tests = [] }: Repository): string[] {
  const facts = Object.entries(sources).map(([path, given]): [string, SourceFacts] => [
    path,
    { imports: [], holdsBehaviour: true, holdsDecisions: false, ...given },
  ])
  return mirrorProblems({ sources: new Map(facts), documents, tests })
}

function filesOf(repository: Repository): string[] {
  return problemsOf(repository).map((problem) => problem.replace(/ .*/, ''))
}

describe('test-mirror: a test', () => {
  it.each([
    ['lambdas/relay/failover.ts', 'test/relay/failover.test.ts'],
    ['lambdas/relay/failover.ts', 'test/relay/failover.limits.test.ts'],
    ['lib/local/aws-front.ts', 'test/local/aws-front.property.test.ts'],
    ['bench/relay/load-plan.ts', 'test/bench/relay/load-plan.test.ts'],
    ['scripts/test-mirror.ts', 'test/scripts/test-mirror.test.ts'],
  ])('of %s may be %s', (source, test) => {
    expect(filesOf({ sources: { [source]: {} }, tests: [test] })).toEqual([])
  })

  it.each([
    ['lambdas/pipeline/video-job.asl.json', 'test/pipeline/video-job.asl.test.ts'],
    ['lambdas/pipeline/video-job.asl.json', 'test/pipeline/video-job.asl.deletion.test.ts'],
    ['docs/decisions', 'test/docs/decisions.test.ts'],
    ['config/gateway.yaml', 'test/config/gateway.test.ts'],
    ['docs/reliability.md', 'test/docs/reliability.test.ts'],
  ])('of %s may be %s', (document, test) => {
    expect(filesOf({ documents: [document], tests: [test] })).toEqual([])
  })

  it('of no file is refused, with the names and the suites that it may choose from', () => {
    const [problem, ...others] = problemsOf({ tests: ['test/relay/port.test.ts'] })
    expect(others).toEqual([])
    expect(problem).toMatch(/^test\/relay\/port\.test\.ts has the name of no source file: /)
    expect(problem).toContain('test/<path>/<file>.<aspect>.test.ts')
    expect(problem).toContain('test/faults')
  })

  it('may have any name in a suite', () => {
    expect(filesOf({ tests: ['test/faults/clock-skew.test.ts'] })).toEqual([])
    expect(filesOf({ tests: ['test/faultless/clock-skew.test.ts'] })).toHaveLength(1)
  })
})

describe('test-mirror: a source file', () => {
  it.each([
    ['lambdas/core/money/money.ts', 'test/core/money/money.test.ts'],
    ['lib/admin/answer.ts', 'test/admin/answer.test.ts'],
  ])('with behaviour and without a test is refused: %s', (source, test) => {
    expect(problemsOf({ sources: { [source]: {} } })).toEqual([
      `${source} has no test: write ${test}, or merge the file into the one that uses it`,
    ])
  })

  it('needs no test without behaviour, or outside of lambdas and lib', () => {
    const sources = { 'lambdas/core/events.ts': { holdsBehaviour: false }, 'bench/store.ts': {} }
    expect(filesOf({ sources })).toEqual([])
  })

  it('used by one file of its folder alone is tested through that file', () => {
    const tests = ['test/relay/failover.test.ts']
    const failover = { imports: ['lambdas/relay/order.ts'] }
    expect(
      filesOf({ sources: { 'lambdas/relay/failover.ts': failover, 'lambdas/relay/order.ts': {} }, tests }),
    ).toEqual([])
  })

  it.each([['lambdas/relay/second.ts'], ['lambdas/pipeline/other.ts']])(
    'used by %s too needs a test of its own',
    (user) => {
      const uses = { imports: ['lambdas/relay/order.ts'] }
      const sources = { 'lambdas/relay/failover.ts': uses, [user]: uses, 'lambdas/relay/order.ts': {} }
      const tests = ['test/relay/failover.test.ts', user.replace('lambdas', 'test').replace('.ts', '.test.ts')]
      expect(filesOf({ sources, tests })).toEqual(['lambdas/relay/order.ts'])
    },
  )

  it('used by one file of another folder alone needs a test of its own', () => {
    const sources = { 'lib/a/one.ts': { imports: ['lib/b/two.ts'] }, 'lib/b/two.ts': {} }
    expect(filesOf({ sources, tests: ['test/a/one.test.ts'] })).toEqual(['lib/b/two.ts'])
  })
})

describe('test-mirror: a handler', () => {
  const handler = 'lambdas/api/create-image/handler.ts'

  it('without a decision is tested with the use case of its folder', () => {
    const sources = { [handler]: {}, 'lambdas/api/create-image/create-image.ts': {} }
    const tests = ['test/api/create-image/create-image.test.ts']
    expect(filesOf({ sources, tests })).toEqual([])
    expect(filesOf({ sources, tests: [] })).toContain(handler)
  })

  it('with a decision needs a test of its own', () => {
    const sources = { [handler]: { holdsDecisions: true }, 'lambdas/api/create-image/create-image.ts': {} }
    const tests = ['test/api/create-image/create-image.test.ts']
    expect(filesOf({ sources, tests })).toEqual([handler])
  })
})
