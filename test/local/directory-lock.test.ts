import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { DataDirectory, DirectoryLock } from '#local/data-directory.ts'
import { REPOSITORY, withoutRunner } from '../e2e/child-environment.ts'

const holders: ChildProcess[] = []
const directories: string[] = []
afterEach(async () => {
  await Promise.all(holders.splice(0).map(kill))
  for (const directory of directories.splice(0)) {
    rmSync(directory, { recursive: true, force: true })
  }
})

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-lock-'))
  directories.push(directory)
  return directory
}

function startHolder(directory: string): ChildProcess {
  const child = fork(join(import.meta.dirname, 'lock-holder.ts'), [directory], {
    cwd: REPOSITORY,
    env: withoutRunner(),
    execArgv: ['--import', join(REPOSITORY, 'bin/require-node.mjs')],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  holders.push(child)
  return child
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [bytes] = await once(child.stdout ?? child, 'data')
  return String(bytes).trim()
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
}

describe('the lock of a data directory', () => {
  it('goes to one of twenty-five hosts that start at once, and the others are told who has it', async () => {
    const directory = newDirectory()
    const said = await Promise.all(Array.from({ length: 25 }, () => firstLine(startHolder(directory))))
    expect(said.filter((line) => line === 'held')).toHaveLength(1)
    const refusals = said.filter((line) =>
      /is in use by a running host.*; stop it or choose another --data-dir$/.test(line),
    )
    expect(refusals).toHaveLength(24)
  })

  it('dies with its process: the next host starts right after a kill', async () => {
    const directory = newDirectory()
    for (let start = 0; start < 5; start += 1) {
      const holder = startHolder(directory)
      expect(await firstLine(holder)).toBe('held')
      await kill(holder)
    }
  })

  it('is not held by the number that a killed host left behind, though another program has it now', () => {
    const directory = newDirectory()
    writeFileSync(join(directory, 'host.json'), JSON.stringify({ pid: process.ppid, url: 'http://127.0.0.1:9' }))
    const data = new DataDirectory(directory)
    expect(() => data.lock()).not.toThrow()
    data.release()
  })

  it('is there once within a process too, and free again after its release', () => {
    const directory = newDirectory()
    const first = new DataDirectory(directory)
    first.lock()
    expect(() => new DataDirectory(directory).lock()).toThrow(`is in use by a running host (process ${process.pid})`)
    first.release()
    const second = new DataDirectory(directory)
    second.lock()
    second.release()
  })

  it('is held in a directory whose path is longer than a socket could have', () => {
    const directory = join(newDirectory(), ...Array<string>(8).fill('a-part-of-a-long-path-of-thirty'))
    const data = new DataDirectory(directory)
    data.lock()
    expect(() => new DataDirectory(directory).lock()).toThrow('is in use')
    data.release()
  })

  it('is taken over a file that something else was written into, and by one alone', () => {
    const file = join(newDirectory(), 'host.lock')
    writeFileSync(file, 'no database, and long enough to be read as the head of one: '.repeat(10))
    const lock = DirectoryLock.take(file)
    expect(lock).toBeDefined()
    expect(DirectoryLock.take(file)).toBeUndefined()
    lock?.release()
  })

  it('leaves nothing beside its own file', () => {
    const directory = newDirectory()
    const lock = DirectoryLock.take(join(directory, 'host.lock'))
    expect(readdirSync(directory)).toEqual(['host.lock'])
    lock?.release()
  })

  it('says what to do where none can be held', () => {
    const directory = newDirectory()
    mkdirSync(join(directory, 'host.lock'))
    expect(() => new DataDirectory(directory).lock()).toThrow(
      /host\.lock cannot be locked \(.*\); choose a --data-dir on a local disk that this user may write to/,
    )
    writeFileSync(join(directory, 'a-file'), '')
    expect(() => new DataDirectory(join(directory, 'a-file'))).toThrow(/a-file is no directory.*; choose a --data-dir/)
  })
})
