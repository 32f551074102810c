import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { OperatorError } from '../config/operator-error.ts'
import { replaceFile } from '../config/replace-file.ts'

/** Result codes of SQLite (https://sqlite.org/rescode.html); the higher bits have details that are not needed. */
const SQLITE_BUSY = 5
const SQLITE_NOTADB = 26
const PRIMARY_CODE_BITS = 0xff

/** Waits for processes that hold the file briefly, so that one of many concurrent starts wins. */
const WAIT_MILLISECONDS = 2_000

/**
 * A lock that ends with its process in any case: an exclusive transaction on an empty SQLite file, which is a lock of the operating
 * system on the file. There is no process id that could go stale, child processes do not inherit the lock, and unlike for a socket, the
 * length of the path does not matter.
 */
export class DirectoryLock {
  readonly #database: DatabaseSync

  private constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** @returns undefined while another process holds it. @throws OperatorError if no process can hold it. */
  static take(file: string): DirectoryLock | undefined {
    return DirectoryLock.#take(file, { isEmptied: false })
  }

  /**
   * The file never has content, so any content is worthless. The file is emptied and not replaced, because two processes that find content
   * must both lock the same file.
   */
  static #take(file: string, { isEmptied }: { readonly isEmptied: boolean }): DirectoryLock | undefined {
    try {
      if (isEmptied) {
        truncateSync(file)
      }
      return new DirectoryLock(beginExclusive(file))
    } catch (error) {
      const code = codeOf(error)
      if (code === SQLITE_BUSY) {
        return undefined
      }
      if (error instanceof OperatorError) {
        throw error
      }
      if (code === SQLITE_NOTADB && !isEmptied) {
        return DirectoryLock.#take(file, { isEmptied: true })
      }
      throw new OperatorError(`${file} cannot be locked (${String(error)}); ${ANOTHER_PLACE}`, { cause: error })
    }
  }

  /** Releases the lock before the process ends. */
  release(): void {
    if (this.#database.isOpen) {
      this.#database.close()
    }
  }
}

function beginExclusive(file: string): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite')
  if (sqlite === undefined) {
    throw new OperatorError('this Node was built without SQLite: use the Node 24 that npm ci brings')
  }
  const database = new sqlite.DatabaseSync(file, { timeout: WAIT_MILLISECONDS })
  try {
    // Otherwise a journal beside the file would survive a kill.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function codeOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'errcode' in error
    ? Number(error.errcode) & PRIMARY_CODE_BITS
    : undefined
}

/** A file of the directory is empty, truncated or in another form than this version writes. */
class BrokenStateFileError extends OperatorError {
  override readonly name = 'BrokenStateFileError'
}

/** What other commands need to reach a running host; kept in the data directory while the host runs. */
const runningHost = z.object({
  pid: z.number(),
  url: z.string().optional(),
  configFile: z.string().optional(),
  /** Ids of the channels whose upstreams the host simulates. */
  simulatedChannels: z.array(z.string()).optional(),
  dynamoDbEndpoint: z.string().optional(),
  tableName: z.string().optional(),
  s3Endpoint: z.string().optional(),
  bucketName: z.string().optional(),
  /** Step Functions. */
  awsEndpoint: z.string().optional(),
  stateMachineArn: z.string().optional(),
  /** The credentials of the engines until the host stops; left out if the environment provides credentials. */
  credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }).optional(),
})
/** A running host: its process, and the addresses of its engines. */
export type RunningHost = z.infer<typeof runningHost>

/** Only the owner has access: the table holds prompts and balances, and engines write their files with other modes. */
const OWNER_ONLY = 0o700

/** Files are private too, because some directories are shared. */
const OWNER_READS = 0o600

/** The sticky bit of shared directories, such as the one for temporary files: only owners may delete their files. */
const STICKY = 0o1000

const ANOTHER_PLACE = 'choose a --data-dir on a local disk that this user may write to'

/** The file that announces a running host. */
const HOST_FILE = 'host.json'

/** Everything that survives a restart, in one directory, closed to other users of the machine. */
export class DataDirectory {
  readonly path: string
  #lock: DirectoryLock | undefined

  /** @throws OperatorError if it cannot be created. */
  constructor(path: string) {
    try {
      mkdirSync(path, { recursive: true, mode: OWNER_ONLY })
    } catch (error) {
      const message = `${path} is no directory and none can be made (${String(error)}); ${ANOTHER_PLACE}`
      throw new OperatorError(message, { cause: error })
    }
    closeToOthers(path)
    this.path = path
  }

  file(name: string): string {
    return join(this.path, name)
  }

  /**
   * Locks the directory for this process, until `release` or any end of the process.
   * @throws OperatorError while another host uses it; OperatorError if it cannot be locked.
   */
  lock(): void {
    this.#lock = DirectoryLock.take(this.file('host.lock'))
    if (this.#lock === undefined) {
      const host = this.#announced()
      const whose = host === undefined ? '' : ` (process ${host.pid})`
      throw new OperatorError(`${this.path} is in use by a running host${whose}; stop it or choose another --data-dir`)
    }
    // The announcement of a killed host is out of date.
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

  /** Replaces a file atomically: a reader sees the old or the new one. */
  writeJson(name: string, value: unknown): void {
    replaceFile(this.file(name), JSON.stringify(value, null, 2), OWNER_READS)
  }

  /** The content of a file; undefined if there is none. A broken file is reported on stderr and counts as none, so it is written again. */
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

  /** The holder of the lock may not have announced itself yet. */
  #announced(): RunningHost | undefined {
    try {
      return readRunningHost(this.path)
    } catch {
      return undefined
    }
  }
}

/**
 * Reads the announcement of a host; undefined if there is none, as after an orderly stop.
 * @throws BrokenStateFileError, with what to do, for a file that no host has written.
 */
export function readRunningHost(path: string): RunningHost | undefined {
  try {
    const host = readState(join(path, HOST_FILE), runningHost)
    return host !== undefined && isAlive(host.pid) ? host : undefined
  } catch (error) {
    if (error instanceof BrokenStateFileError) {
      throw new BrokenStateFileError(`${error.message}: start the host of ${path} again, which writes it`, {
        cause: error,
      })
    }
    throw error
  }
}

/** A killed host leaves its announcement. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** The content of a state file; undefined if there is none. @throws BrokenStateFileError. */
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

/** A directory that was there before may be open. A shared directory, or one of another user, stays as it is. */
function closeToOthers(path: string): void {
  const { uid, mode } = statSync(path)
  if (uid === process.getuid?.() && (mode & STICKY) === 0) {
    chmodSync(path, OWNER_ONLY)
  }
}
