import type { Environment } from '../config/environment.ts'

/** Outputs of the deployed stack by name, such as `BaseUrl`. */
export type DeployedOutputs = Readonly<Record<string, string>>

type NextCommandsOptions = {
  readonly stage: string
  /** Of this terminal, as it was. */
  readonly given: Environment
  /** With which the stack was deployed. */
  readonly used: Environment
  readonly outputs: DeployedOutputs
  /** Names of the upstreams' keys. */
  readonly secretNames: readonly string[]
}

const NEEDED = ['AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']

/** What to type after a deployment: the variables that the terminal lacks, then tenant, key, secret and smoke. */
export function nextCommands({ stage, given, used, outputs, secretNames }: NextCommandsOptions): readonly string[] {
  const missing = NEEDED.filter((name) => given[name] !== used[name])
  const admin = 'npm run admin --'
  const where = stage === 'dev' ? '' : ` --stage ${stage}`
  return [
    ...(missing.length === 0 ? [] : [`export ${missing.map((name) => `${name}=${used[name]}`).join(' ')}`]),
    `for name in ${secretNames.join(' ')}; do echo simulated | ${admin} secret set $name --value-from-stdin${where}; done`,
    `${admin} tenant create --name Acme --credits 100${where}`,
    `${admin} key create --tenant ID${where}`,
    `REELGATE_API_KEY=KEY npm run smoke -- --base-url ${outputs.BaseUrl}`,
  ]
}
