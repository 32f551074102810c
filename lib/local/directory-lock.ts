import { truncateSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** Another process holds the lock. */
export class LockHeldError extends Error {
  override readonly name = 'LockHeldError'
}

/** No process can take the lock here. */
export class LockUnusableError extends Error {
  override readonly name = 'LockUnusableError'
}

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

  /** @throws LockHeldError while another process holds it; LockUnusableError if no process can hold it. */
  static take(file: string): DirectoryLock {
    try {
      return new DirectoryLock(beginExclusive(file))
    } catch (error) {
      if (codeOf(error) !== SQLITE_NOTADB) {
        throw lockError(file, error)
      }
    }
    return DirectoryLock.#takeDamaged(file)
  }

  /**
   * The file never has content, so any content is worthless. The file is emptied and not replaced, because two processes that find content
   * must both lock the same file.
   */
  static #takeDamaged(file: string): DirectoryLock {
    try {
      truncateSync(file)
      return new DirectoryLock(beginExclusive(file))
    } catch (error) {
      throw lockError(file, error)
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
    throw new LockUnusableError('this Node was built without SQLite: use the Node 24 that npm ci brings')
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

function lockError(file: string, error: unknown): Error {
  if (error instanceof LockUnusableError) {
    return error
  }
  return codeOf(error) === SQLITE_BUSY
    ? new LockHeldError(`${file} is locked`)
    : new LockUnusableError(`${file} cannot be locked (${String(error)})`, { cause: error })
}

function codeOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'errcode' in error
    ? Number(error.errcode) & PRIMARY_CODE_BITS
    : undefined
}
