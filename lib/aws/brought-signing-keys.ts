import { createHash } from 'node:crypto'
import { Aws } from 'aws-cdk-lib'
import { type IKeyGroup, KeyGroup, PublicKey } from 'aws-cdk-lib/aws-cloudfront'
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { createSigningSecret, type SigningKeyResources } from './cdn-signing-key.ts'

/** Hexadecimal characters of the digest in the name of a key. */
const DIGEST_CHARACTERS = 12

/** Names of CloudFront are unique in an account across all regions. */
const ACCOUNT_WIDE_PREFIX = `${Aws.STACK_NAME}-${Aws.REGION}`

/**
 * Signing keys that the team generates itself. The stack has the public keys, and the operator imports the private keys into the
 * secret (`npm run admin -- cdn-key import`). A rotation deploys another public key and imports its private key.
 */
export class BroughtSigningKeys extends Construct implements SigningKeyResources {
  readonly secret: Secret
  readonly keyGroup: IKeyGroup
  readonly keyPairId: string
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
    this.keyPairId = publicKeys[0]?.publicKeyId ?? ''
  }
}

function digestOf(pem: string): string {
  return createHash('sha256').update(pem.trim()).digest('hex').slice(0, DIGEST_CHARACTERS)
}
