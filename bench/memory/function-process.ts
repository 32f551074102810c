import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
// Defines the global `awslambda` too, which handlers use when they are loaded.
import { invokeStreamingFunction } from '#local/lambda-runtime.ts'
import { ResponseStream } from '#local/response-stream.ts'

/**
 * One execution environment of a streaming function: loads its bundle when told, and serves one event at a time. Runs in a process of
 * its own, so that its time and memory are those of the function.
 */

const message = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('load'), file: z.string() }),
  z.object({ kind: z.literal('invoke'), event: z.unknown() }),
  z.object({ kind: z.literal('peak') }),
])

let handlers: { readonly streamHandler?: unknown } = {}

process.on('message', (given) => {
  const read = message.parse(given)
  const work = read.kind === 'load' ? load(read.file) : read.kind === 'invoke' ? invoke(read.event) : peak()
  void work.then((reply) => process.send?.(reply))
})

async function load(file: string) {
  const begin = performance.now()
  handlers = await import(pathToFileURL(file).href)
  return { milliseconds: performance.now() - begin }
}

async function invoke(event: unknown) {
  const begin = performance.now()
  const cpu = process.cpuUsage()
  let bytes = 0
  let status = ''
  const stream = new ResponseStream({
    take: (chunk, taken) => {
      status ||= chunk.toString('latin1').slice(0, 200)
      bytes += chunk.length
      taken()
    },
    end: () => {},
  })
  await invokeStreamingFunction({ name: 'function', timeoutSeconds: 900, load: async () => handlers }, event, stream)
  const { user, system } = process.cpuUsage(cpu)
  return {
    milliseconds: performance.now() - begin,
    cpuMilliseconds: (user + system) / 1000,
    bytes,
    statusCode: Number(/"statusCode":(\d+)/.exec(status)?.[1]),
  }
}

/** `VmHWM` of proc(5), in megabytes of 2^20 bytes. */
async function peak() {
  return { megabytes: Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024 }
}
