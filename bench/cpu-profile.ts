import * as z from 'zod'

const callFrame = z.object({ functionName: z.string(), url: z.string() })
const profileSchema = z.object({
  nodes: z.array(z.object({ id: z.number(), callFrame, children: z.array(z.number()).default([]) })),
  samples: z.array(z.number()),
  /** Microseconds before each sample. */
  timeDeltas: z.array(z.number()),
})

/** V8's sampled call tree. */
export type CpuProfile = z.infer<typeof profileSchema>

/** Short enough to see functions of a tenth of a millisecond, long enough not to slow the host down. */
const SAMPLING_MICROSECONDS = 500

/** Records a CPU profile of a process with an open inspector for as long as `work` runs. */
export async function recordCpuProfile(inspectorUrl: string, work: () => Promise<unknown>): Promise<CpuProfile> {
  const inspector = await connect(inspectorUrl)
  try {
    await inspector.send('Profiler.enable')
    await inspector.send('Profiler.setSamplingInterval', { interval: SAMPLING_MICROSECONDS })
    await inspector.send('Profiler.start')
    await work()
    const { profile } = z.object({ profile: profileSchema }).parse(await inspector.send('Profiler.stop'))
    return profile
  } finally {
    inspector.close()
  }
}

/** The inspector refused a command. */
class InspectorError extends Error {
  override readonly name = 'InspectorError'
}

type Inspector = { send(method: string, params?: object): Promise<unknown>; close(): void }

const reply = z.object({ id: z.number(), result: z.unknown().optional(), error: z.unknown().optional() })

async function connect(url: string): Promise<Inspector> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  socket.addEventListener('message', ({ data }) => {
    const parsed = reply.safeParse(JSON.parse(String(data)))
    const asked = parsed.success ? waiting.get(parsed.data.id) : undefined
    if (parsed.data?.error === undefined) {
      asked?.resolve(parsed.data?.result)
    } else {
      asked?.reject(new InspectorError(JSON.stringify(parsed.data.error)))
    }
  })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true })
    socket.addEventListener('error', () => reject(new InspectorError(`no inspector at ${url}`)), { once: true })
  })
  return {
    send: (method, params = {}) => {
      const id = waiting.size + 1
      const asked = Promise.withResolvers<unknown>()
      waiting.set(id, asked)
      socket.send(JSON.stringify({ id, method, params }))
      return asked.promise
    },
    close: () => socket.close(),
  }
}
