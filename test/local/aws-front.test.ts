import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidExecutionInput,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { LOCAL_STATE_MACHINE_ARN, startAwsFront } from '#local/aws-front.ts'
import { StepFunctionsEngine } from '#local/step-functions-engine.ts'
import { useOpened } from '../engines/use-opened.ts'

const release = Promise.withResolvers<unknown>()
const engine = new StepFunctionsEngine({
  definition: {
    StartAt: 'Work',
    States: { Work: { Type: 'Task', Resource: 'arn:aws:lambda:us-east-1:000000000000:function:work', End: true } },
  },
  tasks: { Work: () => release.promise },
  onBroken: () => {},
})

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'a secret of this start' }

const settings = (port: number, credentials = CREDENTIALS) => ({
  endpoint: `http://127.0.0.1:${port}`,
  region: 'us-east-1',
  credentials,
  maxAttempts: 1,
})

const front = useOpened(() => startAwsFront(engine, CREDENTIALS))
let client: SFNClient
beforeAll(async () => {
  client = new SFNClient(settings(front.port))
})
afterAll(async () => {
  release.resolve(null)
  await engine.close()
  client.destroy()
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
    const list = client.send(new ListExecutionsCommand({ stateMachineArn: LOCAL_STATE_MACHINE_ARN }))
    await expect(list).rejects.toMatchObject({ name: 'UnknownOperationException' })
  })

  it('is for who has the secret of this start: nobody else starts, reads or stops an execution', async () => {
    await start('five')
    const before = engine.find('five')?.status
    const headers = { 'x-amz-target': 'AWSStepFunctions.DescribeExecution' }
    const body = JSON.stringify({ executionArn: arnOf('five') })
    const unsigned = await fetch(`http://127.0.0.1:${front.port}`, { method: 'POST', headers, body })
    expect(unsigned.status).toBe(400)
    expect(await unsigned.json()).toEqual({ __type: 'AccessDeniedException', message: 'AccessDeniedException' })

    const stranger = new SFNClient(settings(front.port, { ...CREDENTIALS, secretAccessKey: 'guessed' }))
    const executionArn = arnOf('five')
    const refused = { name: 'AccessDeniedException' }
    await expect(stranger.send(new DescribeExecutionCommand({ executionArn }))).rejects.toMatchObject(refused)
    await expect(stranger.send(new StopExecutionCommand({ executionArn }))).rejects.toMatchObject(refused)
    const startSix = { stateMachineArn: LOCAL_STATE_MACHINE_ARN, name: 'six', input: '{}' }
    await expect(stranger.send(new StartExecutionCommand(startSix))).rejects.toMatchObject(refused)
    expect([engine.find('five')?.status, engine.find('six')]).toEqual([before, undefined])
    stranger.destroy()
  })
})
