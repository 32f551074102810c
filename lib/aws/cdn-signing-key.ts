import { CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib'
import { Grant } from 'aws-cdk-lib/aws-iam'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import type { FunctionSources } from './function-sources.ts'
import { GatewayFunction } from './gateway-function.ts'

const TIMEOUT_SECONDS = 60
/** Lambda's two retries of the event fit in; CloudFormation alone would wait for an hour. */
const ANSWER_MINUTES = 10
/** Two primes of 1024 bits take a second or so at this share of a CPU. */
const MEMORY_MEGABYTES = 512

/** The key pair of signed video urls, made in the account: the private half exists in the secret only. */
export class CdnSigningKey extends Construct {
  /** JSON with the member `privateKeyPem`. */
  readonly secret: Secret
  readonly publicKeyPem: string

  constructor(scope: Construct, id: string, sources: FunctionSources) {
    super(scope, id)
    this.secret = new Secret(this, 'Secret', {
      description: 'Reelgate: signs video urls',
      secretObjectValue: {},
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const maker = new GatewayFunction(this, 'Maker', {
      sources,
      folder: 'cdn-signing-key',
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMegabytes: MEMORY_MEGABYTES,
      files: [],
    })
    const grant = Grant.addToPrincipal({
      grantee: maker,
      actions: ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
      resourceArns: [this.secret.secretArn],
    })
    const keyPair = new CustomResource(this, 'KeyPair', {
      serviceToken: maker.function.functionArn,
      resourceType: 'Custom::CdnSigningKey',
      serviceTimeout: Duration.minutes(ANSWER_MINUTES),
      properties: { SecretArn: this.secret.secretArn },
    })
    grant.applyBefore(keyPair)
    this.publicKeyPem = keyPair.getAttString('PublicKeyPem')
    acknowledge(
      this.secret,
      'A rotated key would end every signed url that is still valid; rotation is a deployment with a second public key.',
      'SMG4',
    )
  }
}
