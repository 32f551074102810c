import { describe, expect, it, jest } from '@jest/globals'
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'
import { FunctionError } from '#local/lambda-runtime.ts'
import {
  type Execution,
  ExecutionAlreadyExistsError,
  InvalidExecutionInputError,
  StepFunctionsEngine,
  type Task,
} from '#local/step-functions-engine.ts'

const ARN = 'arn:aws:lambda:us-east-1:000000000000:function:work'

const CATCH = [{ ErrorEquals: ['States.ALL'], ResultPath: '$.failure', Next: 'Caught' }]

/** Work, tried three times more after `Again`, then Caught for anything else. */
const DEFINITION: StateMachineDefinition = {
  StartAt: 'Work',
  States: {
    Work: {
      Type: 'Task',
      Resource: ARN,
      ResultPath: '$.result',
      Retry: [{ ErrorEquals: ['Again'], IntervalSeconds: 60, MaxAttempts: 3 }],
      Catch: CATCH,
      Next: 'Pause',
    },
    Pause: { Type: 'Wait', SecondsPath: '$.seconds', End: true },
    Caught: { Type: 'Task', Resource: ARN, End: true },
  },
}

type Options = {
  readonly work: Task
  readonly caught?: Task
  readonly retryPause?: number
  readonly definition?: StateMachineDefinition
}

function createEngine({ work, caught = async () => null, retryPause, definition = DEFINITION }: Options) {
  const broken: Pick<Execution, 'name' | 'status' | 'error'>[] = []
  const engine = new StepFunctionsEngine({
    definition,
    tasks: { Work: work, Caught: caught },
    onBroken: ({ name, status, error }) => broken.push({ name, status, error }),
    pauses: retryPause === undefined ? {} : { retryIntervalOverrides: { Work: retryPause } },
  })
  return { engine, broken }
}

const INPUT = '{"id":"a","seconds":0}'
const failure = (name: string) => Promise.reject(new FunctionError(name, 'broken'))

describe('an execution', () => {
  it('goes through its states and is remembered as succeeded', async () => {
    const { engine, broken } = createEngine({ work: async () => 1 })
    expect(engine.start('one', INPUT)).toMatchObject({ name: 'one', status: 'RUNNING', input: INPUT })
    expect(await engine.whenEnded('one')).toMatchObject({ status: 'SUCCEEDED', error: undefined })
    expect(broken).toEqual([])
    expect(engine.find('two')).toBeUndefined()
    expect(await engine.whenEnded('two')).toBeUndefined()
  })

  it('started again with the same input while it runs is the same execution', async () => {
    const release = Promise.withResolvers<unknown>()
    let calls = 0
    const { engine } = createEngine({
      work: () => {
        calls += 1
        return release.promise
      },
    })
    expect(engine.start('one', INPUT)).toBe(engine.start('one', INPUT))
    release.resolve(1)
    await engine.whenEnded('one')
    expect(calls).toBe(1)
  })

  it('started again with other bytes, or after its end, exists already', async () => {
    const { engine } = createEngine({ work: async () => 1 })
    engine.start('one', INPUT)
    expect(() => engine.start('one', '{"seconds":0,"id":"a"}')).toThrow(ExecutionAlreadyExistsError)
    await engine.whenEnded('one')
    expect(() => engine.start('one', INPUT)).toThrow(ExecutionAlreadyExistsError)
  })

  it.each([
    ['no JSON', 'seconds'],
    ['larger than 256 KiB', JSON.stringify({ text: 'x'.repeat(262_144) })],
  ])('is not started on input that is %s', (_, input) => {
    const { engine } = createEngine({ work: async () => 1 })
    expect(() => engine.start('one', input)).toThrow(InvalidExecutionInputError)
    expect(engine.find('one')).toBeUndefined()
  })

  it('hands a failure to Catch with the error name and a cause that is JSON text', async () => {
    const caught: unknown[] = []
    const { engine } = createEngine({
      work: () => failure('UpstreamFailedError'),
      caught: async (input) => caught.push(input),
    })
    engine.start('one', INPUT)
    expect(await engine.whenEnded('one')).toMatchObject({ status: 'SUCCEEDED' })
    expect(caught).toMatchObject([{ id: 'a', failure: { Error: 'UpstreamFailedError' } }])
    const [{ failure: { Cause = '' } = {} } = {}] = caught as { failure?: { Cause?: string } }[]
    expect(JSON.parse(Cause)).toEqual({ errorType: 'UpstreamFailedError', errorMessage: 'broken', trace: [] })
  })

  it('that fails without a Catch has the error of its last state, and is reported once', async () => {
    const { engine, broken } = createEngine({ work: () => failure('First'), caught: () => failure('Second') })
    engine.start('one', INPUT)
    await engine.whenEnded('one')
    expect(broken).toEqual([{ name: 'one', status: 'FAILED', error: 'Second' }])
  })

  it('ends as States.DataLimitExceeded, past every Catch, when a state grows over 256 KiB', async () => {
    const caught: unknown[] = []
    const { engine, broken } = createEngine({
      work: async () => 'x'.repeat(262_144),
      caught: async (input) => caught.push(input),
    })
    engine.start('one', INPUT)
    expect(await engine.whenEnded('one')).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' })
    expect(broken).toEqual([{ name: 'one', status: 'FAILED', error: 'States.DataLimitExceeded' }])
    expect(caught).toEqual([])
  })

  it('that outlives its machine is TIMED_OUT and reported once', async () => {
    const { engine, broken } = createEngine({
      work: async () => 1,
      definition: { ...DEFINITION, TimeoutSeconds: 1 },
    })
    engine.start('one', '{"seconds":60}')
    expect(await engine.whenEnded('one')).toMatchObject({ status: 'TIMED_OUT' })
    expect(broken).toEqual([{ name: 'one', status: 'TIMED_OUT', error: undefined }])
  })
})

describe('a stopped execution', () => {
  it('is ABORTED, goes through no Catch and is reported once', async () => {
    const caught: unknown[] = []
    const { engine, broken } = createEngine({ work: async () => 1, caught: async (input) => caught.push(input) })
    engine.start('one', '{"seconds":60}')
    expect(engine.stop('one')).toBe(true)
    expect(await engine.whenEnded('one')).toMatchObject({ status: 'ABORTED', error: undefined })
    expect(engine.stop('one')).toBe(false)
    expect(broken).toEqual([{ name: 'one', status: 'ABORTED', error: undefined }])
    expect(caught).toEqual([])
  })

  it('in the pause before a retry calls nothing more', async () => {
    const called = Promise.withResolvers<void>()
    let calls = 0
    const { engine } = createEngine({
      work: () => {
        calls += 1
        called.resolve()
        return failure('Again')
      },
    })
    engine.start('one', INPUT)
    await called.promise
    await new Promise(setImmediate)
    engine.stop('one')
    await engine.whenEnded('one')
    await new Promise(setImmediate)
    expect(calls).toBe(1)
  })
})

describe('what a task of a stopped execution throws', () => {
  it('is taken by no Retry and no Catch of the interpreter', async () => {
    const run = jest.spyOn(StateMachine.prototype, 'run')
    const { engine } = createEngine({ work: async () => 1 })
    engine.start('one', '{"seconds":60}')
    const bound = run.mock.calls[0]?.[1]?.overrides?.taskResourceLocalHandlers ?? {}
    run.mockRestore()
    engine.stop('one')
    await engine.whenEnded('one')

    const calls: string[] = []
    const Work = async (input: unknown) => {
      calls.push('Work')
      return (await bound.Work?.(JSON.parse(JSON.stringify(input)))) ?? null
    }
    const Caught = async () => calls.push('Caught')
    const Retry = [{ ErrorEquals: ['States.ALL'], MaxAttempts: 1 }]
    const Repeated = { Type: 'Task', Resource: ARN, Retry, Catch: CATCH, Next: 'Pause' } as const
    const { result } = new StateMachine({ ...DEFINITION, States: { ...DEFINITION.States, Work: Repeated } }).run(
      { seconds: 0 },
      {
        overrides: {
          taskResourceLocalHandlers: { Work, Caught },
          retryIntervalOverrides: { Work: 0 },
        },
      },
    )
    await expect(result).rejects.toMatchObject({ cause: { name: 'ExecutionStopped' } })
    expect(calls).toEqual(['Work'])
  })
})

describe('an engine that closes', () => {
  it('ends its executions without a word, because the next host finds their jobs open', async () => {
    const { engine, broken } = createEngine({ work: async () => 1 })
    engine.start('one', '{"seconds":60}')
    await engine.close()
    expect(await engine.whenEnded('one')).toMatchObject({ status: 'ABORTED' })
    expect(broken).toEqual([])
  })
})

describe('what is left of the differences from Step Functions', () => {
  it('a state is measured together with its input: it is refused at half the size, never above it', async () => {
    const { engine } = createEngine({ work: async (input) => input })
    engine.start('one', JSON.stringify({ seconds: 0, text: 'x'.repeat(140_000) }))
    expect(await engine.whenEnded('one')).toMatchObject({ error: 'States.DataLimitExceeded' })
  })

  it('a task past its TimeoutSeconds is left, and its function runs on', async () => {
    const finished = Promise.withResolvers<string>()
    const caught: unknown[] = []
    const Work = { Type: 'Task', Resource: ARN, TimeoutSeconds: 1, Next: 'Pause', Catch: CATCH } as const
    const { engine } = createEngine({
      definition: { ...DEFINITION, States: { ...DEFINITION.States, Work } },
      work: async () => {
        await engine.whenEnded('one')
        finished.resolve('ran on')
        return null
      },
      caught: async (input) => caught.push(input),
    })
    engine.start('one', INPUT)
    await engine.whenEnded('one')
    expect(caught).toMatchObject([{ failure: { Error: 'States.Timeout' } }])
    expect(await finished.promise).toBe('ran on')
  })

  it('executions and their history live in this process alone', async () => {
    const { engine } = createEngine({ work: async () => 1 })
    engine.start('one', INPUT)
    await engine.whenEnded('one')
    expect(createEngine({ work: async () => 1 }).engine.find('one')).toBeUndefined()
  })
})
