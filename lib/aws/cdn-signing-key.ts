import { createHash } from 'node:crypto'
import { Aws, CustomResource, Duration, RemovalPolicy } from 'aws-cdk-lib'
import { type IKeyGroup, KeyGroup, PublicKey } from 'aws-cdk-lib/aws-cloudfront'
import { Grant } from 'aws-cdk-lib/aws-iam'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'
import type { FunctionSources } from './function-sources.ts'
import { GatewayFunction } from './gateway-function.ts'

/** Covers a minute of retries until IAM knows new permissions, the steps themselves, and the response. */
const TIMEOUT_SECONDS = 120
/** Covers Lambda's two retries of the event, after one and two minutes. CloudFormation's default is an hour. */
const ANSWER_MINUTES = 10
/** Generating a key of two 1024-bit primes takes about a second with this share of a CPU. */
const MEMORY_MEGABYTES = 512

/** Hexadecimal characters of the digest in the name of a public key. */
const DIGEST_CHARACTERS = 12

/** Names of CloudFront are unique in an account across all regions. */
const ACCOUNT_WIDE_PREFIX = `${Aws.STACK_NAME}-${Aws.REGION}`

const GROUP_ACTIONS = ['CreateKeyGroup', 'DeleteKeyGroup', 'GetKeyGroup', 'ListKeyGroups', 'UpdateKeyGroup']
const KEY_ACTIONS = ['CreatePublicKey', 'DeletePublicKey', 'GetPublicKey', 'ListPublicKeys']
const SECRET_ACTIONS = ['GetSecretValue', 'PutSecretValue', 'UpdateSecretVersionStage']

/** The keys that sign video urls, and the group that verifies them. */
export type SigningKeyResources = {
  /** JSON: `{"keys":[{"keyPairId","privateKeyPem","createdAt"}]}`. */
  readonly secret: Secret
  /** The key group that the CDN trusts. */
  readonly keyGroup: IKeyGroup
  /** Name of the function that lists and rotates the keys; undefined if the team brings its own keys. */
  readonly functionName: string | undefined
}

/**
 * The key pairs of signed video urls, generated in the account. Private keys exist in the secret only. One function owns the
 * public keys and the key group that the CDN trusts, so keys change without a deployment.
 */
export class CdnSigningKey extends Construct implements SigningKeyResources {
  readonly secret: Secret
  readonly keyGroup: IKeyGroup
  readonly functionName: string

  constructor(scope: Construct, id: string, sources: FunctionSources) {
    super(scope, id)
    this.secret = createSigningSecret(this)
    const maker = this.#createMaker(sources)
    const resourceName = `${Aws.STACK_NAME}-video-urls-${Aws.REGION}`
    maker.setEnvironment({ CDN_SIGNING_KEY_SECRET_ARN: this.secret.secretArn, CDN_KEY_GROUP_NAME: resourceName })
    const group = new CustomResource(this, 'KeyGroup', {
      serviceToken: maker.function.functionArn,
      resourceType: 'Custom::CdnKeyGroup',
      serviceTimeout: Duration.minutes(ANSWER_MINUTES),
      properties: { KeyGroupName: resourceName },
    })
    for (const grant of this.#grantKeys(maker)) {
      grant.applyBefore(group)
    }
    this.keyGroup = KeyGroup.fromKeyGroupId(this, 'TrustedKeyGroup', group.getAttString('KeyGroupId'))
    this.functionName = maker.function.functionName
  }

  #createMaker(sources: FunctionSources): GatewayFunction {
    return new GatewayFunction(this, 'Maker', {
      sources,
      folder: 'cdn-signing-key',
      timeoutSeconds: TIMEOUT_SECONDS,
      memoryMegabytes: MEMORY_MEGABYTES,
      files: [],
    })
  }

  #grantKeys(maker: GatewayFunction): Grant[] {
    acknowledge(
      maker,
      'CloudFront has no resources for public keys and key groups that a policy could name.',
      'IAM5[Resource::*]',
    )
    return [
      Grant.addToPrincipal({
        grantee: maker,
        actions: SECRET_ACTIONS.map((action) => `secretsmanager:${action}`),
        resourceArns: [this.secret.secretArn],
      }),
      Grant.addToPrincipal({
        grantee: maker,
        actions: [...GROUP_ACTIONS, ...KEY_ACTIONS].map((action) => `cloudfront:${action}`),
        resourceArns: ['*'],
      }),
    ]
  }
}

/**
 * Signing keys that the team generates itself. The stack has the public keys, and the operator imports the private keys into the
 * secret (`npm run admin -- cdn-key import`). A rotation deploys another public key and imports its private key.
 */
export class BroughtSigningKeys extends Construct implements SigningKeyResources {
  readonly secret: Secret
  readonly keyGroup: IKeyGroup
  readonly functionName = undefined

  /** @param publicKeyPems at least one key, SPKI in PEM. */
  constructor(scope: Construct, id: string, publicKeyPems: readonly string[]) {
    super(scope, id)
    this.secret = createSigningSecret(this)
    // Public keys of CloudFront are immutable, so the digest in the name makes another key another resource.
    const publicKeys = publicKeyPems.map((encodedKey) => {
      const digest = digestOf(encodedKey)
      return new PublicKey(this, `PublicKey${digest}`, {
        encodedKey,
        publicKeyName: `${ACCOUNT_WIDE_PREFIX}-${digest}`,
      })
    })
    this.keyGroup = new KeyGroup(this, 'BroughtKeyGroup', {
      items: publicKeys,
      keyGroupName: `${ACCOUNT_WIDE_PREFIX}-brought`,
    })
  }
}

/** Deployed empty, and deleted with the stack, because the distribution that verifies signatures is deleted too. */
function createSigningSecret(scope: Construct): Secret {
  const secret = new Secret(scope, 'Secret', {
    description: 'Reelgate: signs video urls',
    secretObjectValue: {},
    removalPolicy: RemovalPolicy.DESTROY,
  })
  acknowledge(
    secret,
    'The operator rotates these keys with an overlap in which the CDN knows both; a schedule would do it unwatched.',
    'SMG4',
  )
  return secret
}

function digestOf(pem: string): string {
  return createHash('sha256').update(pem.trim()).digest('hex').slice(0, DIGEST_CHARACTERS)
}
