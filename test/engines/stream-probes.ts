import { setTimeout as pause } from 'node:timers/promises'
import { outliveStreamError } from '#lambdas/relay/outlive-stream-error.ts'

type Stream = awslambda.HttpResponseStream

/** One thing that Lambda's runtime client does with the stream of an answer, as seen from a handler and from the platform. */
export type StreamProbe = {
  readonly run: (stream: Stream, note: (fact: string) => void) => Promise<void>
  /** What the handler notes, in this order. */
  readonly facts: readonly string[]
  /** The bytes that reach the platform, in latin1. */
  readonly received: string
  /** Name of the error with which the invocation fails. */
  readonly failure?: string
  /** Whether the process ends before the handler does. */
  readonly endsProcess?: boolean
  /** The platform breaks the connection when the first bytes have come. */
  readonly isBroken?: boolean
}

const HEAD = { statusCode: 200 }
const PRELUDE = `{"statusCode":200}${'\0'.repeat(8)}`

/** Long enough for an error to be told, and for a process to end by it. */
const MOMENT_MILLISECONDS = 150

function noteEvents(stream: Stream, note: (fact: string) => void): void {
  stream.once('error', (error: NodeJS.ErrnoException) => note(`error ${error.code}, destroyed: ${stream.destroyed}`))
  for (const event of ['finish', 'close']) {
    stream.once(event, () => note(`${event}, finished: ${stream.writableFinished}, destroyed: ${stream.destroyed}`))
  }
}

/** Facts to which `test/lambda-runtime` holds the runtime client and `test/local` its stand-in. */
export const STREAM_PROBES: Readonly<Record<string, StreamProbe>> = {
  'has these members and no other': {
    run: async (stream, note) => {
      note(Object.getOwnPropertyNames(stream).sort().join(' '))
      stream.end('body')
    },
    facts: [
      '_onBeforeFirstWrite addListener cork destroy destroyed emit end eventNames getMaxListeners listenerCount listeners ' +
        'off on once prependListener prependOnceListener rawListeners removeAllListeners removeListener setContentType ' +
        'setMaxListeners uncork writable writableCorked writableEnded writableFinished writableHighWaterMark ' +
        'writableLength writableNeedDrain writableObjectMode write',
    ],
    received: 'body',
  },
  'sends the prelude with a first write of nothing, and then what is written': {
    run: async (stream) => {
      const framed = awslambda.HttpResponseStream.from(stream, HEAD)
      framed.write('')
      framed.write('one ')
      framed.write(Buffer.from('two '))
      framed.write(new Uint8Array([0x33]))
      framed.write({ four: 4 })
      framed.end()
    },
    facts: [],
    received: `${PRELUDE}one two 3{"four":4}`,
  },
  'sends no prelude with an end that no write came before': {
    run: async (stream) => void awslambda.HttpResponseStream.from(stream, HEAD).end('body'),
    facts: [],
    received: 'body',
  },
  'cannot be framed after its first write': {
    run: async (stream, note) => {
      stream.write('body')
      try {
        awslambda.HttpResponseStream.from(stream, HEAD)
      } catch (error) {
        note(String(error))
      }
      stream.end()
      stream.end()
    },
    facts: ['Runtime.InvalidStreamingOperation: Cannot set content-type, too late.'],
    received: 'body',
  },
  'finishes when its bytes are on their way, and closes when the platform has them': {
    run: async (stream, note) => {
      noteEvents(stream, note)
      stream.write('body')
      note(`finished: ${stream.writableFinished}`)
      stream.end()
      await pause(MOMENT_MILLISECONDS)
    },
    facts: ['finished: false', 'finish, finished: true, destroyed: false', 'close, finished: true, destroyed: true'],
    received: 'body',
  },
  'holds a writer up from 64 KB on, and drains': {
    run: async (stream, note) => {
      const drained = new Promise((resolve) => stream.once('drain', resolve))
      note(`${stream.writableHighWaterMark} ${stream.write('x'.repeat(60_000))} ${stream.write('x'.repeat(10_000))}`)
      note(`full: ${stream.writableNeedDrain}`)
      await drained
      note(`full: ${stream.writableNeedDrain}`)
      stream.end()
    },
    facts: ['65536 true false', 'full: true', 'full: false'],
    received: 'x'.repeat(70_000),
  },
  'fails the invocation of a handler that throws, behind what was written': {
    run: async (stream) => {
      stream.write('body')
      await pause(MOMENT_MILLISECONDS)
      throw new RangeError('no kittens')
    },
    facts: [],
    received: 'body',
    failure: 'RangeError',
  },
  'ends the process when it is destroyed: the promise that it rejects is awaited by nobody': {
    run: async (stream, note) => {
      noteEvents(stream, note)
      stream.write('body')
      await pause(MOMENT_MILLISECONDS)
      stream.destroy()
      await pause(MOMENT_MILLISECONDS)
      note('settled')
    },
    facts: ['error ECONNRESET, destroyed: true', 'close, finished: false, destroyed: true'],
    received: 'body',
    endsProcess: true,
  },
  'ends the process for a write after its end': {
    run: async (stream, note) => {
      stream.once('error', (error: NodeJS.ErrnoException) => note(`error ${error.code}`))
      stream.write('body')
      await pause(MOMENT_MILLISECONDS)
      stream.end()
      stream.write('more')
      await pause(MOMENT_MILLISECONDS)
      note('settled')
    },
    facts: ['error ERR_STREAM_WRITE_AFTER_END'],
    received: 'body',
    endsProcess: true,
  },
  'ends the process when its connection breaks': {
    run: async (stream, note) => {
      stream.once('error', (error: NodeJS.ErrnoException) =>
        note(`error ${error.code}, destroyed: ${stream.destroyed}`),
      )
      stream.write('body')
      await pause(2 * MOMENT_MILLISECONDS)
      note('settled')
    },
    facts: ['error ECONNRESET, destroyed: true'],
    received: 'body',
    endsProcess: true,
    isBroken: true,
  },
  'lets a handler go on after its connection broke, if it outlives the error': {
    run: async (stream, note) => {
      stream.on('error', outliveStreamError)
      noteEvents(stream, note)
      stream.write('body')
      await pause(MOMENT_MILLISECONDS)
      note(`takes more: ${stream.write('more')}`)
      stream.end()
      await pause(MOMENT_MILLISECONDS)
      note('settled')
    },
    facts: [
      'error ECONNRESET, destroyed: true',
      'close, finished: false, destroyed: true',
      'takes more: false',
      'settled',
    ],
    received: 'body',
    isBroken: true,
  },
  'ends the process for any other rejection, also while an error is outlived': {
    run: async (stream, note) => {
      stream.on('error', outliveStreamError)
      stream.on('error', () => void Promise.reject(new TypeError('a mistake of ours')))
      stream.write('body')
      await pause(2 * MOMENT_MILLISECONDS)
      note('settled')
    },
    facts: [],
    received: 'body',
    endsProcess: true,
    isBroken: true,
  },
}

/** What is seen of one run of a probe. */
export type ProbeRun = Pick<StreamProbe, 'facts' | 'received'> & {
  readonly failure: string | undefined
  readonly endsProcess: boolean
}

/** What must be seen of it. */
export function expectedRun({ facts, received, failure, endsProcess = false }: StreamProbe): ProbeRun {
  return { facts, received, failure, endsProcess }
}

/** Facts go through standard output, each as a line, so that those of a process that ends are kept. */
const FACT = 'stream fact: '

/** A handler that runs the probe that its event names. To be wrapped by `awslambda.streamifyResponse`. */
export async function runProbe(event: { readonly probe: string }, stream: Stream): Promise<void> {
  await STREAM_PROBES[event.probe]?.run(stream, (fact) => process.stdout.write(`${FACT}${fact}\n`))
}

/** The facts in what a process wrote. */
export function factsIn(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith(FACT))
    .map((line) => line.slice(FACT.length))
}
