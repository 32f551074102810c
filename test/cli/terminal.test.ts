import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { nearestName } from '#core/nearest-name.ts'
import { outliveLostOutput, ProgressBar, parseOptions, UsageError } from '../../lib/cli/terminal.ts'

describe('ProgressBar', () => {
  const { isTTY } = process.stdout
  const written: string[] = []

  beforeEach(() => {
    written.length = 0
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] })
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written.push(String(chunk))
      return true
    })
  })
  afterEach(() => {
    jest.restoreAllMocks()
    jest.useRealTimers()
    process.stdout.isTTY = isTTY
  })

  function bar(seconds: number, isTerminal: boolean): ProgressBar {
    process.stdout.isTTY = isTerminal
    return new ProgressBar(seconds)
  }

  it('fills by the expected time on a terminal, in one line', () => {
    const progress = bar(10, true)
    jest.advanceTimersByTime(5_000)
    progress.draw('processing')
    progress.end()
    expect(written.join('')).toBe(`\r  [${'#'.repeat(15)}${'-'.repeat(15)}]   5.0 s  processing   \n`)
  })

  it('is full only when the job has succeeded, however late it is', () => {
    const progress = bar(10, true)
    jest.advanceTimersByTime(60_000)
    progress.draw('processing')
    progress.draw('succeeded')
    expect(written[0]).toContain('-]')
    expect(written[1]).toContain(`[${'#'.repeat(30)}]`)
  })

  it('writes one line per status where nobody watches', () => {
    const progress = bar(10, false)
    for (const status of ['queued', 'processing', 'processing', 'succeeded']) {
      progress.draw(status)
    }
    progress.end()
    expect(written.map((line) => line.trim().split('  ').at(-1))).toEqual(['queued', 'processing', 'succeeded'])
  })
})

const options = {
  port: { type: 'string', default: '1' },
  quick: { type: 'boolean' },
  'dark-mode': { type: 'boolean' },
  mark: { type: 'boolean' },
} as const

describe('parseOptions: the options of a command', () => {
  it('are read as they are declared', () => {
    expect({ ...parseOptions({ args: ['--quick'], options }).values }).toEqual({ port: '1', quick: true })
    const { positionals } = parseOptions({ args: ['a', '--port', '2', 'b'], options, allowPositionals: true })
    expect(positionals).toEqual(['a', 'b'])
  })

  it.each([[['--bogus']], [['--port']], [['word']], [['--quick=1']]])(
    'that are not understood (%j) are a mistake of the command line, not a fault',
    (args) => {
      expect(() => parseOptions({ args, options })).toThrow(UsageError)
    },
  )

  it.each([
    ['--prot=9', /^there is no option --prot; did you mean --port\?$/],
    ['--dark', /^there is no option --dark; did you mean --dark-mode\?$/],
    ['--bogus', /^there is no option --bogus$/],
  ])('that are not known (%s) are told with the one that was meant', (arg, message) => {
    expect(() => parseOptions({ args: [arg], options })).toThrow(message)
  })
})

const NAMES = ['tenant', 'ledger', 'catalogue']

describe('nearestName', () => {
  it.each([
    ['tenat', 'tenant'],
    ['LEDGER', 'ledger'],
    ['catalog', 'catalogue'],
    ['legder', 'ledger'],
  ])('of %s is %s', (typed, meant) => {
    expect(nearestName(typed, NAMES)).toBe(meant)
  })

  it.each(['bucket', 'tele', ''])('of %j is none: too many letters differ', (typed) => {
    expect(nearestName(typed, NAMES)).toBeUndefined()
  })

  it('is the one with the fewest changes', () => {
    expect(nearestName('keys', ['kept', 'key', 'keyset'])).toBe('key')
  })
})

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
