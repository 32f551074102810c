import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  SFNClient,
} from '@aws-sdk/client-sfn'
import { afterEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import {
  EXECUTION_STARTED,
  foldHistory,
  orderTimeline,
  readExecutions,
  recordTimeline,
  type TimelineEntry,
  timeText,
  withoutUrls,
} from '../../../lib/cli/admin/job-timeline.ts'
import { videoJobRecord } from '../../engines/video-jobs.ts'

const CREATED = Date.UTC(2030, 0, 1, 0, 0, 0)
const job = videoJobRecord({ createdAt: CREATED / 1000 })
const entry = (kind: 'reserve' | 'settle' | 'release', seconds: number, actual: string | null = null) => ({
  ...{ kind, job: job.jobId, amount: '0.7', actual },
  at: new Date(CREATED + seconds * 1000).toISOString(),
})

describe('recordTimeline', () => {
  it('has the creation, the money and the steps whose time the record keeps', () => {
    const record = { ...job, submittedAt: CREATED / 1000 + 2, channelId: 'main', finishedAt: CREATED / 1000 + 9 }
    const timeline = recordTimeline(record, [entry('reserve', 0), entry('settle', 10, '0.5')])
    expect(timeline.map(({ event }) => event).toSorted()).toEqual([
      'a poll found it finished upstream',
      'claimed for channel main',
      'created',
      'reserved 0.7',
      'settled at 0.5',
    ])
  })

  it('has nothing before the creation, though the record keeps whole seconds only', () => {
    const timeline = recordTimeline({ ...job, submittedAt: CREATED / 1000 - 1, channelId: 'main' }, [])
    expect(timeline.map(({ at }) => at - (timeline[0]?.at ?? 0))).toEqual([0, 0])
  })

  it('shows no url of an error', () => {
    const [, released] = recordTimeline({ ...job, error: 'cannot read https://host/secret?a=b of yours' }, [
      entry('release', 1),
    ])
    expect(released?.event).toBe('released: cannot read <url> of yours')
  })
})

describe('withoutUrls', () => {
  it.each([
    ['see HTTP://HOST/a?b and data:image/png;base64,AAAA now', 'see <url> and <url> now'],
    ['image_urls[2] (secret.png) has 9x9 pixels', 'image_urls[2] has 9x9 pixels'],
    ['nothing to hide', 'nothing to hide'],
  ])('of %j is %j', (string, shown) => {
    expect(withoutUrls(string)).toBe(shown)
  })
})

describe('a timeline', () => {
  const CREATED = { at: 1_100, event: 'created' }
  const RESERVED = { at: 1_150, event: 'reserved 0.7' }
  const STARTED = { at: 1_300, event: EXECUTION_STARTED, execution: 'a' }
  const SUBMIT = { at: 1_400, event: 'Submit', execution: 'a' }
  const CLAIMED = { at: 1_100, event: 'claimed', doneBy: 'Submit' } as const

  const eventsOf = (entries: readonly TimelineEntry[]) => orderTimeline(entries).map(({ event }) => event)

  it('has what is known to the second behind the step that did it', () => {
    expect(eventsOf([CREATED, CLAIMED, RESERVED, STARTED, SUBMIT, { at: 1_500, event: 'execution aborted' }])).toEqual([
      'created',
      'reserved 0.7',
      'execution started',
      'Submit',
      'claimed',
      'execution aborted',
    ])
    const found = { at: 9_000, event: 'found finished', doneBy: 'Poll' } as const
    expect(eventsOf([found, { at: 9_700, event: 'Poll' }, { at: 9_900, event: 'Store' }])).toEqual([
      'Poll',
      'found finished',
      'Store',
    ])
  })

  it('has it behind the beginning of the execution where no steps are kept, and else where it can have been first', () => {
    expect(eventsOf([CLAIMED, STARTED, CREATED, RESERVED])).toEqual([
      'created',
      'reserved 0.7',
      'execution started',
      'claimed',
    ])
    expect(eventsOf([CLAIMED, RESERVED, CREATED])).toEqual(['created', 'reserved 0.7', 'claimed'])
    const later = { ...STARTED, at: 2_100 }
    expect(eventsOf([later, CLAIMED, CREATED])).toEqual(['created', 'claimed', 'execution started'])
  })

  it('shows milliseconds only where they are known', () => {
    expect([CREATED, CLAIMED].map(timeText)).toEqual(['1970-01-01T00:00:01.100Z', '1970-01-01T00:00:01Z'])
  })
})

const START = Date.parse('2026-11-21T10:00:00Z')
const at = (second: number) => new Date(START + second * 1000)

let id = 0
function event(second: number, type: HistoryEvent['type'], details: Partial<HistoryEvent> = {}): HistoryEvent {
  id += 1
  return { id, timestamp: at(second), type, ...details }
}
const entered = (second: number, name: string) =>
  event(second, 'TaskStateEntered', { stateEnteredEventDetails: { name, input: '{"prompt":"secret"}' } })
const failed = (second: number, error: string) =>
  event(second, 'LambdaFunctionFailed', { lambdaFunctionFailedEventDetails: { error, cause: 'the prompt was secret' } })

const HISTORY = [
  event(0, 'ExecutionStarted'),
  entered(0, 'Submit'),
  event(1, 'WaitStateEntered', { stateEnteredEventDetails: { name: 'WaitForUpstream' } }),
  entered(31, 'Poll'),
  event(31, 'WaitStateEntered', { stateEnteredEventDetails: { name: 'WaitForUpstream' } }),
  entered(46, 'Poll'),
  failed(47, 'ServiceUnavailableError'),
  entered(61, 'Poll'),
  entered(62, 'Store'),
  entered(65, 'Settle'),
  entered(66, 'Notify'),
  event(67, 'ExecutionSucceeded'),
]

describe('the history of an execution', () => {
  it('is its steps in order, polls together, errors by name and nothing that an upstream or a client said', () => {
    const entries = foldHistory(HISTORY, 'job-1')
    expect(entries.map(({ at: time, event: what }) => [(time - START) / 1000, what])).toEqual([
      [0, 'Submit'],
      [31, 'Poll, 2 times from here on'],
      [47, 'Poll failed: ServiceUnavailableError'],
      [61, 'Poll'],
      [62, 'Store'],
      [65, 'Settle'],
      [66, 'Notify'],
    ])
    expect(JSON.stringify(entries)).not.toContain('secret')
  })
})

describe('the executions of a job', () => {
  const sfn = mockClient(SFNClient)
  afterEach(() => {
    sfn.reset()
  })
  process.env.AWS_REGION = 'us-east-1'
  const MACHINE = 'arn:aws:states:eu-west-1:1:stateMachine:m'
  const execution = (name: string) => `arn:aws:states:eu-west-1:1:execution:m:${name}`
  const described = { executionArn: execution('j'), stateMachineArn: MACHINE, input: '{"secret":1}' }

  it('are told of with their restarts and that of a cancel, each with begin, end and steps', async () => {
    const missing = new ExecutionDoesNotExist({ message: 'no', $metadata: {} })
    sfn.on(DescribeExecutionCommand).rejects(missing)
    sfn
      .on(DescribeExecutionCommand, { executionArn: execution('j') })
      .resolves({ ...described, status: 'TIMED_OUT', startDate: at(0), stopDate: at(100) })
    sfn
      .on(DescribeExecutionCommand, { executionArn: execution('j-2') })
      .resolves({ ...described, status: 'RUNNING', startDate: at(160) })
    sfn.on(GetExecutionHistoryCommand).resolves({ events: [entered(0, 'Submit')] })
    const { entries, hasHistory } = await readExecutions(MACHINE, { jobId: 'j', restarts: 1 })
    expect(hasHistory).toBe(true)
    expect(entries.map(({ at: time, event: what, execution: name }) => [(time - START) / 1000, what, name])).toEqual([
      [0, 'execution started', 'j'],
      [100, 'execution timed out', 'j'],
      [0, 'Submit', 'j'],
      [160, 'execution started', 'j-2'],
      [0, 'Submit', 'j-2'],
    ])
    for (const { args } of sfn.commandCalls(GetExecutionHistoryCommand)) {
      expect(args[0].input.includeExecutionData).toBe(false)
    }
  })

  it('are told of without their steps where those are not kept', async () => {
    sfn.on(DescribeExecutionCommand).resolves({ ...described, status: 'RUNNING', startDate: at(0) })
    sfn.on(GetExecutionHistoryCommand).rejects(Object.assign(new Error('no'), { name: 'UnknownOperationException' }))
    const { entries, hasHistory } = await readExecutions(MACHINE, { jobId: 'j', restarts: 0 })
    expect(hasHistory).toBe(false)
    expect(entries).toHaveLength(2)
  })
})
