import { once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import '#local/awslambda.ts'
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { ContentTypeTooLateError, type ResponseSink, ResponseStream } from '#local/awslambda.ts'
import { expectedRun, factsIn, type ProbeRun, STREAM_PROBES } from '../engines/stream-probes.ts'
import { keepChildOutput } from '../logs/keep-child-output.ts'
import type { StandInMessage } from './probe-stand-in.ts'

/** Keeps bytes; holds writers up while it is full. */
class Sink implements ResponseSink {
  readonly bytes: Buffer[] = []
  isFull = false
  hasEnded = false
  #taken: (() => void) | undefined

  take(bytes: Buffer, taken: () => void): void {
    this.bytes.push(bytes)
    if (this.isFull) {
      this.#taken = taken
    } else {
      taken()
    }
  }

  end(): void {
    this.hasEnded = true
  }

  drain(): void {
    this.isFull = false
    this.#taken?.()
  }

  get text(): string {
    return Buffer.concat(this.bytes).toString('latin1')
  }
}

const HEAD = { statusCode: 200, headers: { a: 'b' } }
const PRELUDE = `{"statusCode":200,"headers":{"a":"b"}}${'\0'.repeat(8)}`

function open(highWaterMark?: number) {
  const sink = new Sink()
  const stream = new ResponseStream(sink, highWaterMark)
  return { sink, stream }
}

describe('awslambda', () => {
  it('puts metadata and eight NUL bytes before the first byte, once', async () => {
    const { sink, stream } = open()
    const same = awslambda.HttpResponseStream.from(stream, HEAD)
    expect(same).toBe(stream)
    same.write('one')
    same.write(Buffer.from(' two'))
    same.end(' three')
    await once(stream, 'finish')
    expect(sink.text).toBe(`${PRELUDE}one two three`)
    expect(sink.hasEnded).toBe(true)
  })

  it('sends the prelude with a first write of nothing', () => {
    const { sink, stream } = open()
    awslambda.HttpResponseStream.from(stream, HEAD).write('')
    expect(sink.text).toBe(PRELUDE)
  })

  it.each([undefined, 'bytes'])(
    'sends no prelude with an end (of %s) that no write came before, as on Lambda',
    async (bytes) => {
      const { sink, stream } = open()
      awslambda.HttpResponseStream.from(stream, HEAD).end(bytes)
      await once(stream, 'finish')
      expect(sink.text).toBe(bytes ?? '')
    },
  )

  it('cannot frame a response that has begun', () => {
    const { stream } = open()
    stream.write('begun')
    expect(() => awslambda.HttpResponseStream.from(stream, HEAD)).toThrow(ContentTypeTooLateError)
  })

  it('marks a handler that streams, and leaves it what it is', async () => {
    const handler = async () => undefined
    expect(awslambda.streamifyResponse(handler)).toBe(handler)
    expect(Object.getOwnPropertySymbols(handler)).toEqual([Symbol.for('aws.lambda.runtime.handler.streaming')])
  })
})

describe('a response stream', () => {
  it('makes a writer wait for a reader that is full', async () => {
    const { sink, stream } = open(4)
    sink.isFull = true
    expect(stream.write('one')).toBe(true)
    expect(stream.write('two')).toBe(false)
    expect(sink.text).toBe('one')
    const drained = once(stream, 'drain')
    sink.drain()
    await drained
    expect(sink.text).toBe('onetwo')
  })

  it('tells its writer by `close` that nobody reads any more, calls back what waits, and emits no error', async () => {
    const { sink, stream } = open(4)
    const events: string[] = []
    stream.on('error', () => events.push('error'))
    stream.on('finish', () => events.push('finish'))
    sink.isFull = true
    const failed: string[] = []
    stream.write('one', (error) => failed.push(`one ${error != null}`))
    stream.write('two', (error) => failed.push(`two ${error != null}`))
    stream.abandon()
    await once(stream, 'close')
    stream.write('three', (error) => failed.push(`three ${error != null}`))
    stream.end()
    await new Promise(setImmediate)
    expect(failed).toEqual(['one true', 'two true', 'three true'])
    expect(stream.writableFinished).toBe(false)
    expect(events).toEqual([])
    expect(sink.hasEnded).toBe(false)
  })
})

async function runOnStandIn(probe: string): Promise<ProbeRun> {
  const child = fork(join(import.meta.dirname, 'probe-stand-in.ts'), { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  keepChildOutput(child)
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += String(chunk)
  })
  let received = ''
  let failure: string | undefined
  let isOver = false
  child.on('message', (message: StandInMessage) => {
    if ('received' in message) {
      received += message.received
    } else if ('failure' in message) {
      failure = message.failure
    } else {
      isOver = true
    }
  })
  child.send({ probe })
  await once(child, 'close')
  return { facts: factsIn(output), received, failure, endsProcess: !isOver }
}

/** The real client is held to the same facts by `.ci/run` (`test/lambda-runtime`). */
describe('the local stand-in of Lambda’s response stream', () => {
  it.each(Object.entries(STREAM_PROBES))('%s', async (name, probe) => {
    expect(await runOnStandIn(name)).toEqual(expectedRun(probe))
  })
})
