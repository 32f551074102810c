import { Stack } from 'aws-cdk-lib'
import { CfnFunction, CfnWebFunctionRevision } from 'aws-cdk-lib/aws-lambda'
import type { IConstruct } from 'constructs'

/**
 * The quota of a function, measured on its variables as JSON (Lambda, "Quotas", 4 KB; its refusal prints the "String measured"). Documents name
 * 4 KB and 32 KB for Web Functions: the smaller one is safe with both.
 */
const BYTES_MAX = 4_096

/** Names and ARNs that AWS gives are known only after the deployment. All of those in use are shorter. */
const REFERENCE_CHARACTERS = 256

/**
 * Refuses to synthesise a function or a Web Function below this construct whose environment variables exceed what Lambda takes. CloudFormation
 * would fail in the middle of a deployment.
 */
export function refuseLargeEnvironments(scope: IConstruct): void {
  scope.node.addValidation({ validate: () => scope.node.findAll().flatMap(largeEnvironmentOf) })
}

/**
 * The most that variables take as JSON, in bytes.
 * @param variables resolved: strings, and expressions of CloudFormation, of which each reference counts as 256 characters.
 */
export function environmentBytesMax(variables: Readonly<Record<string, unknown>>): number {
  const written = Object.entries(variables).map(([name, value]) => [name, longestValue(value)])
  return Buffer.byteLength(JSON.stringify(Object.fromEntries(written)))
}

function longestValue(value: unknown): string {
  if (typeof value === 'string') {
    return value
  }
  const [kind, parts] = Object.entries(value ?? {})[0] ?? []
  return kind === 'Fn::Join' && Array.isArray(parts) && Array.isArray(parts[1])
    ? parts[1].map(longestValue).join(parts[0])
    : 'x'.repeat(REFERENCE_CHARACTERS)
}

/** What a person can do about it, or nothing. */
function largeEnvironmentOf(construct: IConstruct): string[] {
  const variables = variablesOf(construct)
  const bytes = environmentBytesMax(variables)
  return bytes <= BYTES_MAX
    ? []
    : [
        `the environment variables of ${construct.node.path} take up to ${bytes} bytes of the ${BYTES_MAX} that Lambda allows: ${sizesOf(variables)}. Shorten cors.origins or console.oidc in the configuration`,
      ]
}

/** The longest variables, by name alone. */
function sizesOf(variables: Readonly<Record<string, unknown>>): string {
  const sizes = Object.entries(variables).map(([name, value]) => ({ name, characters: longestValue(value).length }))
  const longest = sizes.sort((one, other) => other.characters - one.characters).slice(0, 3)
  return longest.map(({ name, characters }) => `${name} ${characters}`).join(', ')
}

function variablesOf(construct: IConstruct): Readonly<Record<string, unknown>> {
  const resolve = (value: unknown) => Stack.of(construct).resolve(value)
  if (construct instanceof CfnFunction) {
    return resolve(construct.environment)?.variables ?? {}
  }
  return construct instanceof CfnWebFunctionRevision
    ? (resolve(construct.serviceConfig)?.environmentVariables ?? {})
    : {}
}
