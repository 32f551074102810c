import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { respondToCloudFormation } from '#adapters/cloudformation/respond-to-cloudformation.ts'

const received: { contentType: string | undefined; body: unknown }[] = []
let status = 200
let server: Server

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8')
    received.push({ contentType: request.headers['content-type'], body: JSON.parse(body) })
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
})

function eventOf(): CloudFormationCustomResourceEvent {
  const { port } = server.address() as AddressInfo
  return {
    RequestType: 'Create',
    ServiceToken: 'arn:function',
    ResponseURL: `http://127.0.0.1:${port}/response`,
    StackId: 'arn:stack',
    RequestId: 'request-1',
    LogicalResourceId: 'Files',
    ResourceType: 'Custom::ConsoleFiles',
    ResourceProperties: { ServiceToken: 'arn:function' },
  }
}

const success = { outcome: { Status: 'SUCCESS', Data: {} }, physicalResourceId: 'bucket' } as const

describe('respond-to-cloudformation', () => {
  it('names the stack, the request and the resource, without a content type, which the url does not sign', async () => {
    await respondToCloudFormation(eventOf(), success)
    expect(received.at(-1)).toEqual({
      contentType: undefined,
      body: {
        Status: 'SUCCESS',
        Data: {},
        PhysicalResourceId: 'bucket',
        StackId: 'arn:stack',
        RequestId: 'request-1',
        LogicalResourceId: 'Files',
      },
    })
  })

  it('throws when the url refuses the response, so that Lambda repeats the event', async () => {
    status = 403
    await expect(respondToCloudFormation(eventOf(), success)).rejects.toThrow('refused the response with status 403')
  })
})
