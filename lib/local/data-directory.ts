import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

/** Two hosts on one directory would run every job twice. */
class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError'
}

/** What other commands need to reach a running host; it lies in the data directory while the host runs. */
const runningHost = z.object({
  pid: z.number(),
  url: z.string().optional(),
  dynamoDbEndpoint: z.string().optional(),
  tableName: z.string().optional(),
  s3Endpoint: z.string().optional(),
  bucketName: z.string().optional(),
  /** Step Functions and CloudFront. */
  awsEndpoint: z.string().optional(),
  stateMachineArn: z.string().optional(),
})
/** A host that is running: its process, and where its engines answer. */
export type RunningHost = z.infer<typeof runningHost>

/** The owner alone enters: the table holds prompts and balances, and what lies beside it is written with the modes of others. */
const OWNER_ONLY = 0o700

/** On a directory that many people share, as a system has for temporary files: the owner of one file keeps it from others. */
const STICKY = 0o1000

/** Everything that outlives a restart, in one directory, closed to other users of the machine. */
export class DataDirectory {
  readonly path: string

  constructor(path: string) {
    mkdirSync(path, { recursive: true, mode: OWNER_ONLY })
    closeToOthers(path)
    this.path = path
  }

  file(name: string): string {
    return join(this.path, name)
  }

  /** Takes the directory for this process. @throws DataDirectoryInUseError while another host lives in it. */
  lock(): void {
    const other = readRunningHost(this.path)
    if (other !== undefined && other.pid !== process.pid && isAlive(other.pid)) {
      throw new DataDirectoryInUseError(
        `${this.path} is in use by a running host (process ${other.pid}); stop it or choose another --data-dir`,
      )
    }
    this.announce({ pid: process.pid })
  }

  /** Tells other commands how to reach this host. */
  announce(host: RunningHost): void {
    this.writeJson('host.json', host)
  }

  release(): void {
    rmSync(this.file('host.json'), { force: true })
  }

  /** Replaces a file as a whole: a reader sees the old or the new one. */
  writeJson(name: string, value: unknown): void {
    writeFileSync(this.file(`${name}.new`), JSON.stringify(value, null, 2), { mode: 0o600 })
    renameSync(this.file(`${name}.new`), this.file(name))
  }
}

/** Reads what a host announced; undefined when none has, or it has stopped in good order. */
export function readRunningHost(path: string): RunningHost | undefined {
  const file = join(path, 'host.json')
  if (!existsSync(file)) {
    return undefined
  }
  const parsed = runningHost.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  return parsed.success ? parsed.data : undefined
}

/** One of an earlier version may be open. A directory that is shared, or somebody else's, is not ours to close. */
function closeToOthers(path: string): void {
  const { uid, mode } = statSync(path)
  if (uid === process.getuid?.() && (mode & STICKY) === 0) {
    chmodSync(path, OWNER_ONLY)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
