import { truncateSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** Another process holds the lock. */
export class LockHeldError extends Error {
  override readonly name = 'LockHeldError'
}

/** The lock cannot be taken here, by whomever. */
export class LockUnusableError extends Error {
  override readonly name = 'LockUnusableError'
}

/** Result codes of SQLite (https://sqlite.org/rescode.html); the bits above say more than is asked for here. */
const SQLITE_BUSY = 5
const SQLITE_NOTADB = 26
const PRIMARY_CODE_BITS = 0xff

/** Of many who begin at once one must win: whoever looks at the file for a moment is waited for. */
const WAIT_MILLISECONDS = 2_000

/**
 * A lock that dies with its process, whatever ends it: an exclusive transaction on an empty SQLite file, which the system
 * keeps as a lock on the file's bytes. No id of a process can go stale, a child process does not inherit it, and the
 * length of the path does not matter, as it would for a socket.
 */
export class DirectoryLock {
  readonly #database: DatabaseSync

  private constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** @throws LockHeldError while another process holds it; LockUnusableError where it cannot be held at all. */
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
   * Nothing is ever written into the file, so what is in it is worth nothing. It is emptied and not replaced: of two who
   * find it so, both must go on to lock one file.
   */
  static #takeDamaged(file: string): DirectoryLock {
    try {
      truncateSync(file)
      return new DirectoryLock(beginExclusive(file))
    } catch (error) {
      throw lockError(file, error)
    }
  }

  /** Gives it back before the process ends. */
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
    // Without this a journal would lie beside the file, and outlive a kill.
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
