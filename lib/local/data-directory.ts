import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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
export type RunningHost = z.infer<typeof runningHost>

/** Everything that outlives a restart, in one directory. */
export class DataDirectory {
  readonly path: string

  constructor(path: string) {
    mkdirSync(path, { recursive: true })
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
