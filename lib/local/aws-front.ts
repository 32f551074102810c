import type { IncomingMessage, ServerResponse } from 'node:http'
import * as z from 'zod'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { readBody } from '#platform/http-server/request-bodies.ts'
import { type EngineCredentials, isSignedWith } from './engine-credentials.ts'
import {
  type Execution,
  ExecutionAlreadyExistsError,
  InvalidExecutionInputError,
  type StepFunctionsEngine,
} from './step-functions-engine.ts'

const JSON_TYPE = { 'content-type': 'application/x-amz-json-1.0' }

/** Step Functions refuses larger inputs. */
const REQUEST_BYTES_MAX = 1_000_000

/** The operations of the engine that are available over HTTP. */
type Executions = Pick<StepFunctionsEngine, 'start' | 'find' | 'stop'>

/** The host's own operation beside those of Step Functions, for admin commands. */
export const DESCRIBE_CHANNELS = 'ReelgateHost.DescribeChannels'

type Served = { readonly engine: Executions; readonly describeChannels: () => object }

const MACHINE_ARN_PREFIX = 'arn:aws:states:local:000000000000:'

/** The name of the local state machine in every function. */
export const LOCAL_STATE_MACHINE_ARN = `${MACHINE_ARN_PREFIX}stateMachine:video-job`
const EXECUTION_ARN_PREFIX = `${MACHINE_ARN_PREFIX}execution:video-job:`

const startInput = z.object({ name: z.string(), input: z.string() })
const executionInput = z.object({ executionArn: z.string() })

/**
 * Serves the operations of Step Functions that the handlers use, so that they run with the real SDK client: `StartExecution`,
 * `DescribeExecution` and `StopExecution`. It also serves {@link DESCRIBE_CHANNELS}. Requests that are not signed with the credentials are refused, because other users of the
 * machine can reach this port.
 */
export async function startAwsFront(
  engine: Executions,
  credentials: EngineCredentials,
  describeChannels: () => object = () => ({ channels: {}, credentials: {} }),
): Promise<HttpServer> {
  const server = await listen((request, response) => {
    if (!isSignedWith(request, credentials)) {
      const { status, json } = failure('AccessDeniedException')
      response.writeHead(status, { ...JSON_TYPE, connection: 'close' }).end(JSON.stringify(json))
      return
    }
    serve(request, response, { engine, describeChannels }).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  }, 0)
  server.keepIdleConnections()
  return server
}

async function serve(request: IncomingMessage, response: ServerResponse, served: Served): Promise<void> {
  const body = await readBody(request, REQUEST_BYTES_MAX)
  const target = String(request.headers['x-amz-target'] ?? '')
  const { status, json } =
    target === DESCRIBE_CHANNELS
      ? { status: 200, json: served.describeChannels() }
      : run(target.split('.')[1], JSON.parse(body.toString('utf8')), served.engine)
  response.writeHead(status, JSON_TYPE).end(JSON.stringify(json))
}

type Reply = { status: number; json: unknown }

function run(operation: string | undefined, input: unknown, engine: Executions): Reply {
  switch (operation) {
    case 'StartExecution':
      return start(startInput.parse(input), engine)
    case 'DescribeExecution': {
      const execution = engine.find(nameOf(input))
      return execution === undefined ? failure('ExecutionDoesNotExist') : { status: 200, json: describe(execution) }
    }
    case 'StopExecution':
      return engine.stop(nameOf(input))
        ? { status: 200, json: { stopDate: seconds(Date.now()) } }
        : failure('ExecutionDoesNotExist')
    default:
      return failure('UnknownOperationException')
  }
}

function start({ name, input }: z.infer<typeof startInput>, engine: Executions): Reply {
  try {
    const execution = engine.start(name, input)
    return { status: 200, json: { executionArn: EXECUTION_ARN_PREFIX + name, startDate: seconds(execution.startedAt) } }
  } catch (error) {
    if (error instanceof ExecutionAlreadyExistsError || error instanceof InvalidExecutionInputError) {
      return failure(error.name)
    }
    throw error
  }
}

function nameOf(input: unknown): string {
  return executionInput.parse(input).executionArn.slice(EXECUTION_ARN_PREFIX.length)
}

function describe(execution: Execution) {
  return {
    executionArn: EXECUTION_ARN_PREFIX + execution.name,
    stateMachineArn: LOCAL_STATE_MACHINE_ARN,
    name: execution.name,
    status: execution.status,
    input: execution.input,
    startDate: seconds(execution.startedAt),
    ...(execution.endedAt === undefined ? {} : { stopDate: seconds(execution.endedAt) }),
  }
}

function failure(type: string): Reply {
  return { status: 400, json: { __type: type, message: type } }
}

function seconds(milliseconds: number): number {
  return milliseconds / 1000
}
