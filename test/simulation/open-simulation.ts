import { Agent, request } from 'node:http'
import {
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { startTestTable, tableWithClient } from '../engines/test-table.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import type { Guard } from './guards.ts'
import { type Outcome, runHistory } from './run-history.ts'
import { mockTimers } from './scheduler.ts'
import { mockServices } from './simulated-services.ts'
import type { Switching } from './world.ts'

type Command = { readonly input: object; readonly constructor: { readonly name: string } }
type Attribute = Readonly<Record<string, unknown>>

/**
 * Speaks to the table engine as the SDK's document client does, at a fifth of its cost: a simulation sends a million
 * requests. Same commands in, same shapes and error classes out; no retries, no signature.
 */
export class LeanClient {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #endpoint: URL

  constructor(endpoint: string) {
    this.#endpoint = new URL(endpoint)
  }

  async send(command: Command): Promise<Record<string, unknown>> {
    const { status, body } = await this.#post(operationOf(command), JSON.stringify(encode(command.input)))
    const answer = JSON.parse(body)
    if (status !== 200) {
      throw errorOf(answer)
    }
    return decode(answer)
  }

  close(): void {
    this.#agent.destroy()
  }

  #post(operation: string, body: string): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
        'x-amz-date': '20260101T000000Z',
        authorization:
          'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
        'content-length': Buffer.byteLength(body),
      }
      const { hostname, port } = this.#endpoint
      const sent = request({ agent: this.#agent, hostname, port, method: 'POST', headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
        response.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

const OPERATIONS: Readonly<Record<string, string>> = {
  GetCommand: 'GetItem',
  BatchGetCommand: 'BatchGetItem',
  PutCommand: 'PutItem',
  UpdateCommand: 'UpdateItem',
  DeleteCommand: 'DeleteItem',
  QueryCommand: 'Query',
  ScanCommand: 'Scan',
  TransactWriteCommand: 'TransactWriteItems',
}

function operationOf({ constructor: { name } }: Command): string {
  const operation = OPERATIONS[name]
  if (operation === undefined) {
    throw new TypeError(`the simulation does not know ${name}`)
  }
  return operation
}

/** Members that hold attributes by name. */
const ATTRIBUTE_MAPS = new Set(['Key', 'Item', 'ExpressionAttributeValues', 'ExclusiveStartKey'])

function encode(input: object): object {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      if (ATTRIBUTE_MAPS.has(name) && value !== undefined) {
        return [name, toAttributes(value)]
      }
      if (name === 'RequestItems') {
        return [name, mapValues(value, (wanted: Wanted) => ({ ...wanted, Keys: wanted.Keys.map(toAttributes) }))]
      }
      if (name === 'TransactItems') {
        return [
          name,
          value.map((item: object) =>
            Object.fromEntries(Object.entries(item).map(([kind, part]) => [kind, encode(part)])),
          ),
        ]
      }
      return [name, value]
    }),
  )
}

type Wanted = { readonly Keys: readonly object[] }

function mapValues<From, To>(values: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}

function toAttributes(values: object): object {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, toAttribute(value)]),
  )
}

function toAttribute(value: unknown): Attribute {
  if (typeof value === 'string') {
    return { S: value }
  }
  if (typeof value === 'number' || typeof value === 'bigint') {
    return { N: String(value) }
  }
  if (typeof value === 'boolean') {
    return { BOOL: value }
  }
  if (Array.isArray(value)) {
    return { L: value.map(toAttribute) }
  }
  return typeof value === 'object' && value !== null ? { M: toAttributes(value) } : { NULL: true }
}

function decode(answer: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => {
      if (name === 'Items' && Array.isArray(value)) {
        return [name, value.map(fromAttributes)]
      }
      if (name === 'Responses' && isRecord(value)) {
        return [name, mapValues(value, (items) => (Array.isArray(items) ? items.map(fromAttributes) : items))]
      }
      const isMap = name === 'Item' || name === 'Attributes' || name === 'LastEvaluatedKey'
      return [name, isMap && isRecord(value) ? fromAttributes(value) : value]
    }),
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function fromAttributes(attributes: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, fromAttribute(value)]))
}

function fromAttribute(attribute: unknown): unknown {
  const [[type, value] = []] = Object.entries(isRecord(attribute) ? attribute : {})
  if (type === 'N') {
    const number = Number(value)
    return Number.isSafeInteger(number) || String(value).includes('.') ? number : BigInt(String(value))
  }
  if (type === 'M' && isRecord(value)) {
    return fromAttributes(value)
  }
  if (type === 'L' && Array.isArray(value)) {
    return value.map(fromAttribute)
  }
  return type === 'NULL' ? null : value
}

function errorOf(answer: Record<string, unknown>): Error {
  const name = String(answer.__type).split('#').at(-1) ?? ''
  const common = { message: String(answer.message ?? answer.Message ?? name), $metadata: {} }
  if (name === 'ConditionalCheckFailedException') {
    return new ConditionalCheckFailedException(common)
  }
  if (name === 'TransactionCanceledException') {
    const CancellationReasons = Array.isArray(answer.CancellationReasons) ? answer.CancellationReasons : []
    return new TransactionCanceledException({ ...common, CancellationReasons })
  }
  return new DynamoDBServiceException({ ...common, name, $fault: 'client' })
}

export type HistoryOptions = {
  readonly seed: number
  /** Conditions that are taken out of the product's writes. */
  readonly missing?: readonly Guard[]
  readonly reconcileAlone?: boolean
  readonly relaysRequests?: boolean
  readonly switching?: Switching
  readonly probesGuards?: boolean
}

export type Simulation = {
  readonly run: (options: HistoryOptions) => Promise<Outcome>
  readonly close: () => Promise<void>
}

const DEFAULTS = {
  missing: [],
  reconcileAlone: false,
  relaysRequests: false,
  switching: 'never',
  probesGuards: true,
} as const

/** Starts the table engine; each history gets an empty table of its own. */
export async function openSimulation(): Promise<Simulation> {
  setTestLogging()
  mockServices()
  mockTimers()
  const engine = await startTestTable()
  const lean = new LeanClient(engine.endpoint)
  return {
    run: async ({ seed, ...asked }) => {
      const { name } = await engine.fresh()
      const client = Object.assign(Object.create(DynamoDBDocumentClient.prototype), { send: lean.send.bind(lean) })
      const table = tableWithClient({ name, client })
      return await runHistory({ ...DEFAULTS, ...asked, seed, table })
    },
    close: async () => {
      lean.close()
      await engine.close()
    },
  }
}

/** What a failing history says of itself, with the command that runs it again. */
export function describeFailure({ seed, broken, trace }: Outcome, flags: readonly string[] = []): string {
  return [
    `history ${seed} breaks a rule:`,
    ...broken.map((sentence) => `  ${sentence}`),
    'the last things that happened:',
    ...trace.slice(-20).map((label) => `  ${label}`),
    `run it again: npm run test:long -- ${['--seed', seed, ...flags].join(' ')}`,
  ].join('\n')
}
