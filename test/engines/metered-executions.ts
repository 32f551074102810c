import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { type Loopback, listenHttp } from '../adapters/outbound/loopback.ts'
import type { CostMeter } from './cost-meter.ts'

type Executions = {
  /** Begins an execution; the answer to whoever started it waits for this. */
  readonly start: (name: string, input: string) => Promise<void>
}

/** Step Functions, as far as the functions use them; each request is metered. */
export async function startMeteredExecutions(meter: CostMeter, executions: Executions): Promise<Loopback> {
  return await listenHttp(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8')
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    meter.addRequest(operation)
    const input: { name: string; input: string } = JSON.parse(body)
    if (operation === 'StartExecution') {
      await executions.start(input.name, input.input)
    }
    const now = Date.now() / 1000
    const answer = { executionArn: LOCAL_STATE_MACHINE_ARN, startDate: now, status: 'RUNNING' }
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer))
  })
}
