import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type FoundSecret, findSecrets, type LogStream } from './find-secrets.ts'

/** Names the directory of a run; processes of the run inherit it. */
export const DIRECTORY_VARIABLE = 'REELGATE_TEST_LOGS'

/** Where a run keeps what its processes log; undefined outside of a test run. */
export function logDirectory(): string | undefined {
  return process.env[DIRECTORY_VARIABLE]
}

/** Appends to the logs of this run, under a name of its own; does nothing outside of a run. */
export function openLog(name: string, stream: LogStream): { write(text: string): void; close(): void } {
  const directory = logDirectory()
  if (directory === undefined) {
    return { write: () => undefined, close: () => undefined }
  }
  const file = openSync(join(directory, `${name}.${stream}`), 'a')
  return { write: (text) => void writeSync(file, text), close: () => closeSync(file) }
}

/** All secrets in all logs of a directory. */
export function searchLogs(directory: string): readonly FoundSecret[] {
  return readdirSync(directory).flatMap((file) => {
    const stream = file.endsWith('.stderr') ? 'stderr' : 'stdout'
    return findSecrets(readFileSync(join(directory, file), 'utf8'), stream)
  })
}
