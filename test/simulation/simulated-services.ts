import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { mockClient } from 'aws-sdk-client-mock'
import type { Faults } from './faults.ts'
import type { SimulatedExecutions } from './simulated-executions.ts'

/** What the services of the present history are. */
export type Services = {
  readonly faults: Faults
  readonly executions: SimulatedExecutions
  readonly objects: Map<string, string>
}

let present: Services | undefined

/** From now on the clients of S3 and Step Functions talk to this history. */
export function useServices(services: Services): void {
  present = services
}

function services(): Services {
  if (present === undefined) {
    throw new ReferenceError('no history has begun')
  }
  return present
}

/** Puts every client of a service other than the table behind the doors of the simulation; once per process. */
export function mockServices(): void {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:000000000000:stateMachine:video',
  })
  mockExecutions()
  mockBucket()
}

function mockExecutions(): void {
  const client = mockClient(SFNClient)
  client.on(StartExecutionCommand).callsFake(({ name, input }) =>
    services().faults.pass(`start ${name}`, async () => {
      services().executions.start(name, input)
      return {}
    }),
  )
  client.on(DescribeExecutionCommand).callsFake(({ executionArn }: { executionArn: string }) =>
    services().faults.pass('describe execution', async () => ({
      status: services().executions.statusOf(executionArn.split(':').at(-1) ?? ''),
    })),
  )
}

class PreconditionFailed extends Error {
  override readonly name = 'PreconditionFailed'
}

function mockBucket(): void {
  const client = mockClient(S3Client)
  client.on(PutObjectCommand).callsFake(({ Key, Body, IfNoneMatch }) =>
    services().faults.pass(`put ${Key}`, async () => {
      if (IfNoneMatch === '*' && services().objects.has(Key)) {
        throw new PreconditionFailed(Key)
      }
      services().objects.set(Key, String(Body))
      return {}
    }),
  )
  client.on(DeleteObjectCommand).callsFake(({ Key }) =>
    services().faults.pass(`delete ${Key}`, async () => {
      services().objects.delete(Key)
      return {}
    }),
  )
  client.on(GetObjectCommand).callsFake(({ Key }) =>
    services().faults.pass(`read ${Key}`, async () => ({
      Body: { transformToString: async () => services().objects.get(Key) ?? '' },
    })),
  )
}
