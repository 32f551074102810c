import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { replaceFile } from '../config/replace-file.ts'
import { DirectoryLock, LockHeldError, LockUnusableError } from './directory-lock.ts'

/** Two hosts on one directory would run every job twice. */
class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError'
}

/** It cannot be made, or not be held, so that nobody knows whether another host lives in it. */
class DataDirectoryUnusableError extends Error {
  override readonly name = 'DataDirectoryUnusableError'
}

/** A file of the directory is empty, cut or not what this version writes. */
class BrokenStateFileError extends Error {
  override readonly name = 'BrokenStateFileError'
}

/** What other commands need to reach a running host; it lies in the data directory while the host runs. */
const runningHost = z.object({
  pid: z.number(),
  url: z.string().optional(),
  dynamoDbEndpoint: z.string().optional(),
  tableName: z.string().optional(),
  s3Endpoint: z.string().optional(),
  bucketName: z.string().optional(),
  /** Step Functions. */
  awsEndpoint: z.string().optional(),
  stateMachineArn: z.string().optional(),
  /** What requests to the engines are signed with, until the host stops; left out where the environment has a pair of its own. */
  credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }).optional(),
})
/** A host that is running: its process, and where its engines answer. */
export type RunningHost = z.infer<typeof runningHost>

/** The owner alone enters: the table holds prompts and balances, and what lies beside it is written with the modes of others. */
const OWNER_ONLY = 0o700

/** Files too, for some directories are not ours to close. */
const OWNER_READS = 0o600

/** On a directory that many people share, as a system has for temporary files: the owner of one file keeps it from others. */
const STICKY = 0o1000

const ANOTHER_PLACE = 'choose a --data-dir on a local disk that this user may write to'

/** Where a running host is announced. */
const HOST_FILE = 'host.json'

/** Everything that outlives a restart, in one directory, closed to other users of the machine. */
export class DataDirectory {
  readonly path: string
  #lock: DirectoryLock | undefined

  /** @throws DataDirectoryUnusableError where none can be made. */
  constructor(path: string) {
    try {
      mkdirSync(path, { recursive: true, mode: OWNER_ONLY })
    } catch (error) {
      const message = `${path} is no directory and none can be made (${String(error)}); ${ANOTHER_PLACE}`
      throw new DataDirectoryUnusableError(message, { cause: error })
    }
    closeToOthers(path)
    this.path = path
  }

  file(name: string): string {
    return join(this.path, name)
  }

  /**
   * Takes the directory for this process, until `release` or the end of the process, whatever ends it.
   * @throws DataDirectoryInUseError while another host lives in it; DataDirectoryUnusableError where no lock can be held.
   */
  lock(): void {
    try {
      this.#lock = DirectoryLock.take(this.file('host.lock'))
    } catch (error) {
      throw this.#lockRefusal(error)
    }
    // What a host that was killed has announced is true no more.
    this.announce({ pid: process.pid })
  }

  /** Tells other commands how to reach this host. */
  announce(host: RunningHost): void {
    this.writeJson(HOST_FILE, host)
  }

  release(): void {
    rmSync(this.file(HOST_FILE), { force: true })
    this.#lock?.release()
  }

  /** Replaces a file as a whole: a reader sees the old or the new one. */
  writeJson(name: string, value: unknown): void {
    replaceFile(this.file(name), JSON.stringify(value, null, 2), OWNER_READS)
  }

  /** What a file holds; undefined when there is none. What is broken is told on stderr, and counts as none: it is made anew. */
  readJson<Value>(name: string, schema: z.ZodType<Value>): Value | undefined {
    try {
      return readState(this.file(name), schema)
    } catch (error) {
      if (error instanceof BrokenStateFileError) {
        console.error(`${error.message}: it is made anew`)
        return undefined
      }
      throw error
    }
  }

  #lockRefusal(error: unknown): unknown {
    if (error instanceof LockHeldError) {
      const host = this.#announced()
      const whose = host === undefined ? '' : ` (process ${host.pid})`
      const message = `${this.path} is in use by a running host${whose}; stop it or choose another --data-dir`
      return new DataDirectoryInUseError(message, { cause: error })
    }
    if (error instanceof LockUnusableError) {
      return new DataDirectoryUnusableError(`${error.message}; ${ANOTHER_PLACE}`, { cause: error })
    }
    return error
  }

  /** Whoever holds the lock may not have announced itself yet. */
  #announced(): RunningHost | undefined {
    try {
      return readRunningHost(this.path)
    } catch {
      return undefined
    }
  }
}

/**
 * Reads what a host announced; undefined when none has, or it has stopped in good order.
 * @throws BrokenStateFileError, with what to do, for a file that no host has written like this.
 */
export function readRunningHost(path: string): RunningHost | undefined {
  try {
    return readState(join(path, HOST_FILE), runningHost)
  } catch (error) {
    if (error instanceof BrokenStateFileError) {
      throw new BrokenStateFileError(`${error.message}: start the host of ${path} again, which writes it`, {
        cause: error,
      })
    }
    throw error
  }
}

/** What a state file holds; undefined when it is not there. @throws BrokenStateFileError. */
export function readState<Value>(file: string, schema: z.ZodType<Value>): Value | undefined {
  if (!existsSync(file)) {
    return undefined
  }
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) {
      throw new BrokenStateFileError(`${file} is empty, cut or of another program`, { cause: error })
    }
    throw error
  }
}

/** One of an earlier version may be open. A directory that is shared, or somebody else's, is not ours to close. */
function closeToOthers(path: string): void {
  const { uid, mode } = statSync(path)
  if (uid === process.getuid?.() && (mode & STICKY) === 0) {
    chmodSync(path, OWNER_ONLY)
  }
}
