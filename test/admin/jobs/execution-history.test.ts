import type { HistoryEvent } from '@aws-sdk/client-sfn'
import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  GetExecutionHistoryCommand,
  SFNClient,
} from '@aws-sdk/client-sfn'
import { mockClient } from 'aws-sdk-client-mock'
import { afterEach, describe, expect, it } from 'vitest'
import { foldHistory, readExecutions } from '../../../lib/cli/admin/job-timeline.ts'

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
