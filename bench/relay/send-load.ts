import { join } from 'node:path'
import { PinnedProcess, PROCESSORS } from './pinned-process.ts'
import type { RelayCase } from './relay-cases.ts'
import type { RunningTarget } from './relay-targets.ts'
import type { LoadFigures, LoadOrder } from './run-load.ts'
import { ANSWER_BYTES, chatRequestBody } from './workload.ts'

const FILE = join(import.meta.dirname, 'load-process.ts')

/** How long a load lasts. */
export type LoadSeconds = Pick<LoadOrder, 'warmUpSeconds' | 'measuredSeconds'>

/** Runs one load on a target, in a process of its own on the load's processor. @throws when nothing was answered. */
export async function sendLoad(
  target: Pick<RunningTarget, 'entry'>,
  { plan, pace, stream }: Omit<RelayCase, 'name'>,
  seconds: LoadSeconds,
): Promise<LoadFigures> {
  const { model, headers, origin, serverPid, addedJsonBytes = 0 } = target.entry(pace)
  const order: LoadOrder = {
    origin,
    serverPid,
    headers: { accept: stream ? 'text/event-stream' : 'application/json', ...headers },
    body: chatRequestBody(model, stream),
    answerBytes: stream ? ANSWER_BYTES.stream : ANSWER_BYTES.json + addedJsonBytes,
    plan,
    ...seconds,
  }
  const load = new PinnedProcess({
    processors: PROCESSORS.load,
    parameters: [FILE],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  try {
    const figures = load.nextMessage<LoadFigures>()
    load.child.send(order)
    return await figures
  } finally {
    await load.stop()
  }
}
