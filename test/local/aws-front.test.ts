import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidExecutionInput,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { LOCAL_STATE_MACHINE_ARN, startAwsFront } from '#local/aws-front.ts'
import type { LocalServer } from '#local/http-server.ts'
import { StepFunctionsEngine } from '#local/step-functions-engine.ts'

const release = Promise.withResolvers<unknown>()
const engine = new StepFunctionsEngine({
  definition: {
    StartAt: 'Work',
    States: { Work: { Type: 'Task', Resource: 'arn:aws:lambda:us-east-1:000000000000:function:work', End: true } },
  },
  tasks: { Work: () => release.promise },
  onBroken: () => {},
})

const settings = (port: number) => ({
  endpoint: `http://127.0.0.1:${port}`,
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  maxAttempts: 1,
})

let front: LocalServer
let client: SFNClient
beforeAll(async () => {
  front = await startAwsFront(engine)
  client = new SFNClient(settings(front.port))
})
afterAll(async () => {
  release.resolve(null)
  await engine.close()
  client.destroy()
  await front.close()
})

const start = (name: string, input = '{"id":1}') =>
  client.send(new StartExecutionCommand({ stateMachineArn: LOCAL_STATE_MACHINE_ARN, name, input }))
const arnOf = (name: string) => `${LOCAL_STATE_MACHINE_ARN.replace(':stateMachine:', ':execution:')}:${name}`
const describeExecution = (name: string) => client.send(new DescribeExecutionCommand({ executionArn: arnOf(name) }))

describe('the Step Functions wire', () => {
  it('starts an execution and describes it', async () => {
    const { executionArn, startDate } = await start('one')
    expect(executionArn).toBe(arnOf('one'))
    expect(Math.abs(Date.now() - Number(startDate))).toBeLessThan(10_000)
    expect(await describeExecution('one')).toMatchObject({
      name: 'one',
      status: 'RUNNING',
      input: '{"id":1}',
    })
  })

  it('answers a repeated start with the same execution, and another input with ExecutionAlreadyExists', async () => {
    const first = await start('two')
    expect((await start('two')).startDate).toEqual(first.startDate)
    await expect(start('two', '{"id":2}')).rejects.toBeInstanceOf(ExecutionAlreadyExists)
  })

  it('stops an execution', async () => {
    await start('three')
    await client.send(new StopExecutionCommand({ executionArn: arnOf('three') }))
    await engine.whenEnded('three')
    const description = await describeExecution('three')
    expect(description.status).toBe('ABORTED')
    expect(description.stopDate).toBeInstanceOf(Date)
  })

  it('tells an unknown execution and an input that is no JSON apart', async () => {
    await expect(describeExecution('nobody')).rejects.toBeInstanceOf(ExecutionDoesNotExist)
    await expect(start('four', 'no json')).rejects.toBeInstanceOf(InvalidExecutionInput)
  })

  it('does not speak the rest of it', async () => {
    const answer = await fetch(`http://127.0.0.1:${front.port}`, {
      method: 'POST',
      headers: { 'x-amz-target': 'AWSStepFunctions.ListExecutions' },
      body: '{}',
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ __type: 'UnknownOperationException' })
  })
})
