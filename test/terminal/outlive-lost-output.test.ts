import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { outliveLostOutput } from '../../lib/cli/terminal.ts'

const MODULE = join(import.meta.dirname, '..', '..', 'lib', 'cli', 'terminal.ts')

/** Logs for as long as it is asked to by its parent, and then ends with 7. */
const SERVER = `
  const { outliveLostOutput } = await import(${JSON.stringify(MODULE)})
  outliveLostOutput()
  setInterval(() => { console.log('a line'); console.error('another') }, 5)
  process.on('message', () => process.exit(7))
`

function startServer(stdio: 'pipe' | 'full') {
  const output = stdio === 'full' ? 'exec 1>/dev/full 2>/dev/full; ' : ''
  return spawn('/bin/sh', ['-c', `${output}exec "$0" --input-type=module -e "$1"`, process.execPath, SERVER], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
}

describe('a server that prints', () => {
  it('goes on when whoever read its output has left', async () => {
    const server = startServer('pipe')
    await once(server.stdout ?? server, 'data')
    server.stdout?.destroy()
    server.stderr?.destroy()
    await sleep(500)
    expect(server.exitCode).toBeNull()
    server.send('end')
    expect(await once(server, 'exit')).toEqual([7, null])
  })

  it('goes on when the disk is full', async () => {
    const server = startServer('full')
    await sleep(1_500)
    expect(server.exitCode).toBeNull()
    server.send('end')
    expect(await once(server, 'exit')).toEqual([7, null])
  })
})

describe('output that can be written again', () => {
  it('says once since when lines were lost', async () => {
    let isFull = true
    const lines: string[] = []
    const stream = new Writable({
      autoDestroy: false,
      write(chunk, _encoding, done) {
        if (isFull) {
          // As a terminal, a pipe or a file of the process does it: the error is told, and the stream stays.
          this.emit('error', Object.assign(new Error('no space left'), { code: 'ENOSPC' }))
          done()
          return
        }
        lines.push(String(chunk))
        done()
      },
    })
    outliveLostOutput([stream])
    stream.write('lost')
    stream.write('lost too')
    isFull = false
    await sleep(1_300)
    stream.write('kept')
    expect(lines).toHaveLength(2)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'WARN',
      message: expect.stringMatching(/^output was lost: nothing could be written since 20\d\d-/),
    })
    expect(lines[1]).toBe('kept')
  })
})
