import { describe, expect, it } from '@jest/globals'
import { StateMachine } from 'aws-local-stepfunctions'
import type { NextStep } from '#core/jobs/video-job.ts'
import { readVideoMachine, type StateName } from '../engines/video-machine.ts'

const { StartAt, States, TimeoutSeconds } = readVideoMachine()
const tasks = Object.entries(States).filter(([, { Type }]) => Type === 'Task')
const retried = tasks.filter(([name]) => !['CheckReferences', 'Notify'].includes(name))

const retriersOf = (name: string) => States[name]?.Retry ?? []
const retrierFor = (name: string, error: string) =>
  retriersOf(name).find(({ ErrorEquals }) => ErrorEquals.includes(error))

describe('the state machine of a video job', () => {
  it('is valid Amazon States Language, which no engine checks again', () => {
    const definition = JSON.parse(JSON.stringify(readVideoMachine()))
    expect(() => new StateMachine(definition)).not.toThrow()
    definition.States.Submit.Next = 'Nowhere'
    expect(() => new StateMachine(definition)).toThrow(/Nowhere/)
  })

  it('has the tasks of the pipeline and begins with the submit', () => {
    const names: StateName[] = ['Submit', 'CheckReferences', 'Poll', 'Store', 'Settle', 'Fail', 'Notify']
    expect(tasks.map(([name]) => name)).toEqual(names)
    expect(StartAt).toBe('Submit')
  })

  it.each(tasks)('%s ends after its own time at the latest', (_, { TimeoutSeconds: seconds }) => {
    expect(seconds).toBeGreaterThan(0)
  })

  it.each(retried)('%s outlasts five minutes of throttling by Lambda, with full jitter', (name) => {
    expect(retrierFor(name, 'Lambda.TooManyRequestsException')).toMatchObject({
      IntervalSeconds: 1,
      BackoffRate: 2,
      MaxDelaySeconds: 30,
      // The video of a throttled Store exists and is billed.
      MaxAttempts: name === 'Store' ? 240 : 40,
      JitterStrategy: 'FULL',
    })
  })

  it.each(retried)('%s is tried twice more after a crash or a timeout', (name) => {
    for (const error of ['Lambda.Unknown', 'Sandbox.Timedout', 'States.Timeout']) {
      expect(retrierFor(name, error)).toMatchObject({ MaxAttempts: 2 })
    }
  })

  it.each(retried)(
    '%s is tried again for two minutes after any other error, among them those of Lambda itself',
    (name) => {
      expect(retriersOf(name).at(-1)).toEqual({
        ErrorEquals: ['States.ALL'],
        IntervalSeconds: 2,
        BackoffRate: 2,
        MaxAttempts: 6,
      })
    },
  )

  it.each(retried)('%s is not tried again without a record of its job', (name) => {
    expect(retriersOf(name)[0]).toEqual({ ErrorEquals: ['JobRecordMissingError'], MaxAttempts: 0 })
  })

  it('Store alone is tried for an hour when the file cannot be fetched or stored', () => {
    const retrier = retrierFor('Store', 'StoreFailedError')
    const { IntervalSeconds = 1, BackoffRate = 1, MaxDelaySeconds = 0, MaxAttempts = 0 } = retrier ?? {}
    const pauses = Array.from({ length: MaxAttempts }, (_, attempt) =>
      Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** attempt),
    )
    // Full jitter: on average half of each pause.
    expect(pauses.reduce((sum, pause) => sum + pause / 2, 0)).toBeGreaterThan(2 * 60 * 60)
    expect(retried.filter(([name]) => retrierFor(name, 'StoreFailedError')).map(([name]) => name)).toEqual(['Store'])
  })

  it('Notify is never tried again, and whatever becomes of it the execution ends well', () => {
    expect(States.Notify?.Retry).toBeUndefined()
    expect(States.Notify?.Catch).toEqual([{ ErrorEquals: ['States.ALL'], ResultPath: null, Next: 'Done' }])
    expect(States.Notify).toMatchObject({ End: true })
  })

  it.each(['Submit', 'Poll', 'Store', 'Settle'])('%s that cannot go on leads to Fail', (name) => {
    expect(States[name]?.Catch).toEqual([{ ErrorEquals: ['States.ALL'], ResultPath: '$.failure', Next: 'Fail' }])
  })

  it('CheckReferences fails a job by the one error that says so; otherwise it goes back to Submit, untried again', () => {
    const { Retry, Catch, Next } = States.CheckReferences ?? {}
    expect(Retry).toBeUndefined()
    expect(Catch).toEqual([
      { ErrorEquals: ['ReferenceRefusedError'], ResultPath: '$.failure', Next: 'Fail' },
      { ErrorEquals: ['States.ALL'], ResultPath: null, Next: 'Submit' },
    ])
    expect(Next).toBe('Submit')
  })

  it('tells the steps that may fail a job which definition it is, so that an older one is never sent where it has no state', () => {
    const named = tasks.flatMap(([name, { Parameters }]) => (Parameters === undefined ? [] : [[name, Parameters]]))
    const ids = { 'tenantId.$': '$.tenantId', 'jobId.$': '$.jobId', definition: 1 }
    expect(named).toEqual([
      ['Submit', ids],
      ['Poll', { ...ids, 'next.$': '$.next' }],
      ['Store', ids],
    ])
  })

  it('Fail has no way out but Reconcile, so that no open reservation ends in a green execution', () => {
    expect(States.Fail?.Catch).toBeUndefined()
    expect(States.Fail?.Next).toBe('Notify')
  })

  it.each([
    [
      'AfterSubmit',
      { poll: 'WaitForUpstream', submit: 'WaitForChannel', check: 'CheckReferences', notify: 'Notify', fail: 'Fail' },
      'Done',
    ],
    [
      'AfterPoll',
      {
        poll: 'WaitForUpstream',
        store: 'Store',
        settle: 'Settle',
        submit: 'WaitForChannel',
        notify: 'Notify',
        fail: 'Fail',
      },
      'Done',
    ],
    ['AfterStore', { fail: 'Fail' }, 'Settle'],
  ])('%s knows every step that its function may return; the rest has a default', (name, expected, otherwise) => {
    const rules = States[name]?.Choices ?? []
    expect(rules.every(({ Variable }) => Variable === '$.next.step')).toBe(true)
    expect(Object.fromEntries(rules.map(({ StringEquals, Next }) => [StringEquals, Next]))).toEqual(expected)
    expect(States[name]?.Default).toBe(otherwise)
  })

  it('sends every step that carries a wait through a wait', () => {
    const waits: Record<Extract<NextStep, { waitSeconds: number }>['step'], string> = {
      poll: 'WaitForUpstream',
      submit: 'WaitForChannel',
    }
    for (const [step, wait] of Object.entries(waits)) {
      const rules = Object.values(States).flatMap(({ Choices = [] }) =>
        Choices.filter(({ StringEquals }) => StringEquals === step),
      )
      expect(rules.every(({ Next }) => Next === wait)).toBe(true)
      expect(States[wait]).toMatchObject({ Type: 'Wait', SecondsPath: '$.next.waitSeconds' })
    }
  })

  it('outlives the longest queue, the longest deadline and the longest store together', () => {
    const storeSeconds = 60 * 60 + (States.Store?.TimeoutSeconds ?? 0)
    expect(TimeoutSeconds).toBeGreaterThan(6 * 60 * 60 + 6 * 60 * 60 + storeSeconds)
  })

  it('carries ids and the next wait only: no task writes anywhere but to next and failure', () => {
    const paths = tasks.map(([, state]) => ('ResultPath' in state ? state.ResultPath : 'all'))
    expect(new Set(paths)).toEqual(new Set(['$.next', null]))
  })
})
