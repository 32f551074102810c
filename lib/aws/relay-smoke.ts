import { CustomResource, Duration } from 'aws-cdk-lib'
import { Grant } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { FunctionSources } from './function-sources.ts'
import { GatewayFunction } from './gateway-function.ts'

/** Covers a minute until the secret can be read, two minutes of steps, one last request and the response. */
const TIMEOUT_SECONDS = 240
/** Covers Lambda's retries of the event too. */
const RESPONSE_MINUTES = 15
const MEMORY_MEGABYTES = 256

type RelaySmokeProps = {
  readonly sources: FunctionSources
  /** Domain of the endpoint that serves the new revision alone. */
  readonly domainName: string
  readonly release: string
  /** Of the front door. */
  readonly secretArn: string
}

/**
 * Proves the new revision before requests of clients reach it, because Lambda calls a revision active even if its process does not start. Each
 * release has a resource of its own, so that a rollback proves nothing again: it deletes the resource that failed.
 */
export class RelaySmoke extends Construct {
  /** Exists once the release is proved. */
  readonly proof: CustomResource

  constructor(scope: Construct, id: string, { sources, domainName, release, secretArn }: RelaySmokeProps) {
    super(scope, id)
    const prover = new GatewayFunction(this, 'Prover', {
      sources,
      folder: 'relay-smoke',
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMegabytes: MEMORY_MEGABYTES,
      files: [],
    })
    prover.setEnvironment({ FRONT_DOOR_SECRET_ARN: secretArn })
    const grant = Grant.addToPrincipal({
      grantee: prover,
      actions: ['secretsmanager:GetSecretValue'],
      resourceArns: [secretArn],
    })
    this.proof = new CustomResource(this, `Proof${release}`, {
      serviceToken: prover.function.functionArn,
      resourceType: 'Custom::RelaySmoke',
      serviceTimeout: Duration.minutes(RESPONSE_MINUTES),
      properties: { Origin: `https://${domainName}`, Release: release },
    })
    grant.applyBefore(this.proof)
  }
}
