import { createHash } from 'node:crypto'
import { Aws } from 'aws-cdk-lib'
import { type IKeyGroup, KeyGroup, PublicKey } from 'aws-cdk-lib/aws-cloudfront'
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { createSigningSecret, type SigningKeyResources } from './cdn-signing-key.ts'

/** Hexadecimal characters that tell the keys of one stack apart. */
const DIGEST_CHARACTERS = 12

/** What CloudFront has is named once in an account, whatever the region of the stack. */
const ACCOUNT_WIDE_PREFIX = `${Aws.STACK_NAME}-${Aws.REGION}`

/**
 * Signing keys that the team makes itself: the stack has their public halves, and the operator puts the private ones into
 * the secret (`npm run admin -- cdn-key import`). To rotate, another public key is deployed and its private half imported.
 */
export class BroughtSigningKeys extends Construct implements SigningKeyResources {
  readonly secret: Secret
  readonly keyGroup: IKeyGroup
  readonly keyPairId: string
  readonly functionName = undefined

  /** `publicKeyPems` has one key at least, SPKI in PEM. */
  constructor(scope: Construct, id: string, publicKeyPems: readonly string[]) {
    super(scope, id)
    this.secret = createSigningSecret(this)
    // CloudFront never changes a public key: one is named by what it is, so that another one is another resource.
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
    this.keyPairId = publicKeys[0]?.publicKeyId ?? ''
  }
}

function digestOf(pem: string): string {
  return createHash('sha256').update(pem.trim()).digest('hex').slice(0, DIGEST_CHARACTERS)
}
