import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { CommandFailedError } from '../admin/command-line/command-failed-error.ts'
import type { Environment } from '../config/platform-facts.ts'
import type { DeployPhase } from './deploy-phases.ts'

const REPOSITORY_ROOT = join(import.meta.dirname, '../..')

/** The version that package-lock.json pins. */
const CDK = join(REPOSITORY_ROOT, 'node_modules/aws-cdk/bin/cdk')

/**
 * Runs `cdk` in the repository. Its output, a line per resource, is shown only with `verbose` or after a failure.
 * @throws CommandFailedError
 */
export async function runCdk(phase: DeployPhase, environment: Environment, verbose: boolean): Promise<void> {
  const child = spawn(process.execPath, [CDK, ...phase.parameters], {
    cwd: REPOSITORY_ROOT,
    // `cdk` starts the app as `node`, which must be this version.
    env: { ...environment, PATH: `${dirname(process.execPath)}:${environment.PATH ?? ''}` },
    stdio: verbose ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  })
  const output: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => output.push(chunk))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) {
    process.stderr.write(Buffer.concat(output))
    throw new CommandFailedError(`cdk ${phase.name} failed (exit code ${code})`)
  }
}
