import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findFreePort } from '#local/free-port.ts'
import { PinnedProcess, PinnedProcessError, PROCESSORS } from './pinned-process.ts'

/** A package of its own: nobody who works on the gateway needs it. */
const PACKAGE = join(import.meta.dirname, '..', 'portkey')
const ENTRY = join('node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js')

const START_MILLISECONDS_MAX = 20_000
const LOOK_MILLISECONDS = 50

/** Installs what `bench/portkey/package-lock.json` says, once. None of its install scripts is needed. */
export async function installPortkey(progress: (line: string) => void): Promise<void> {
  if (existsSync(join(PACKAGE, ENTRY))) {
    return
  }
  progress('installing Portkey into bench/portkey')
  await promisify(execFile)('npm', ['ci', '--prefix', PACKAGE, '--ignore-scripts'])
}

/** Starts Portkey's gateway as its package ships it, on the server's processor and a free port. */
export async function startPortkey(): Promise<{
  readonly origin: string
  readonly pid: number
  stop(): Promise<void>
}> {
  const port = await findFreePort()
  const portkey = new PinnedProcess({
    processors: PROCESSORS.server,
    directory: PACKAGE,
    parameters: [ENTRY, '--headless', `--port=${port}`],
    stdio: 'ignore',
  })
  try {
    await untilListening(port)
    return { origin: `http://127.0.0.1:${port}`, pid: portkey.pid, stop: () => portkey.stop() }
  } catch (error) {
    await portkey.stop()
    throw error
  }
}

async function untilListening(port: number): Promise<void> {
  const giveUpAt = performance.now() + START_MILLISECONDS_MAX
  while (!(await accepts(port))) {
    if (performance.now() > giveUpAt) {
      throw new PinnedProcessError('Portkey does not listen in time')
    }
    await delay(LOOK_MILLISECONDS)
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
