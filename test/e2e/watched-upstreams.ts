import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startP1Simulator } from '../../lib/simulators/p1.ts'
import { startP2Simulator } from '../../lib/simulators/p2.ts'
import type { Simulator, SimulatorRequest } from '../../lib/simulators/server.ts'

/** What a request asks of an upstream. */
type Asked = 'submit' | 'poll' | 'store'

/** An upstream of each family in the process of the test: it outlives any gateway and remembers what it accepted. */
export async function startWatchedUpstreams() {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-upstreams-'))
  const files = { p1: join(directory, 'p1.jsonl'), p2: join(directory, 'p2.jsonl') }
  const behaviour = { queueSeconds: 0, runSeconds: 1, pollsPerSecond: Number.POSITIVE_INFINITY }
  const [p1, p2] = await Promise.all([
    startP1Simulator({ stateFile: files.p1, behaviour }),
    startP2Simulator({ stateFile: files.p2, behaviour }),
  ])
  const counters = [countRequests(p1), countRequests(p2)]
  return {
    p1: p1.baseUrl,
    p2: p2.baseUrl,
    /** Requests of one kind so far. */
    asked: (kind: Asked) => counters.reduce((total, counts) => total + counts()[kind], 0),
    /** The prompt of every task that was ever accepted, once for each time. */
    acceptedPrompts: () => [...readPrompts(files.p1), ...readPrompts(files.p2)],
    close: async () => {
      await Promise.all([p1.close(), p2.close()])
    },
  }
}

/** Counts across the simulator's log, which forgets its oldest entries: to be asked often. */
function countRequests({ requests }: Simulator): () => Record<Asked, number> {
  const counts = { submit: 0, poll: 0, store: 0 }
  let newest: SimulatorRequest | undefined
  return () => {
    const from = newest === undefined ? 0 : requests.lastIndexOf(newest) + 1
    for (const request of requests.slice(from)) {
      counts[kindOf(request)] += 1
      newest = request
    }
    return counts
  }
}

function kindOf({ method, path }: SimulatorRequest): Asked {
  if (path.startsWith('/results/')) {
    return 'store'
  }
  return method === 'POST' ? 'submit' : 'poll'
}

/** The simulators write each task that they accept into their state file, one JSON line each. */
function readPrompts(file: string): string[] {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines.flatMap((line) => {
    const { kind, task } = JSON.parse(line)
    return kind === 'added' ? [String(task.prompt)] : []
  })
}
