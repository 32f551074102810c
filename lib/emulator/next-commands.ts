import type { Environment } from '../config/platform-facts.ts'

/** Outputs of the deployed stack by name, such as `BaseUrl`. */
export type DeployedOutputs = Readonly<Record<string, string>>

type NextCommandsOptions = {
  readonly stage: string
  /** The variables of the terminal. */
  readonly given: Environment
  /** The variables of the deployment. */
  readonly used: Environment
  readonly outputs: DeployedOutputs
  /** Names of the upstreams' keys. */
  readonly secretNames: readonly string[]
}

const NEEDED = ['AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']

/** The commands after a deployment: export missing variables, set the secrets, create a tenant and a key, run the smoke test. */
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
