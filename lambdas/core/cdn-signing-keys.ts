/** A key with which CloudFront verifies video urls. */
export type SigningKey = {
  /** CloudFront's id of the public key; it is in each url that the key signed. */
  readonly keyPairId: string
  /** When CloudFront got the key, in Unix milliseconds. */
  readonly createdAt: number
}

/**
 * How long a new key waits before it signs. CloudFront deploys a change in some minutes, and an instance may hold a secret that
 * is five minutes old. Before all of them know the key, some edges would refuse its urls.
 */
const SETTLING_MILLISECONDS = 15 * 60 * 1000

/** Video urls are valid for seven days at most; one more day covers clock differences and instances with an old secret. */
const URL_LIFE_MILLISECONDS = 8 * 24 * 60 * 60 * 1000

/** Most public keys of a key group (Amazon CloudFront developer guide, "Quotas on key groups"). */
export const SIGNING_KEYS_MAX = 5

/** The only RSA key length that CloudFront accepts for signed urls (developer guide, "Create key pairs for your signers"). */
export const SIGNING_KEY_BITS = 2048

/** The key that signs now: the newest key that all edges know; if there is none, the oldest key. */
export function keyThatSigns<Key extends SigningKey>(keys: readonly Key[], nowMilliseconds: number): Key | undefined {
  const [oldest, ...newer] = oldestFirst(keys)
  return newer.findLast(({ createdAt }) => createdAt + SETTLING_MILLISECONDS <= nowMilliseconds) ?? oldest
}

/** When a key begins to sign, in Unix milliseconds. */
function signsFrom({ createdAt }: SigningKey): number {
  return createdAt + SETTLING_MILLISECONDS
}

/**
 * When no valid url needs a key any longer: eight days after its successor begins to sign, in Unix milliseconds. Undefined for
 * the newest key, which has no successor.
 */
export function neededUntil(keys: readonly SigningKey[], { keyPairId }: Pick<SigningKey, 'keyPairId'>) {
  const ordered = oldestFirst(keys)
  const successor = ordered[ordered.findIndex((key) => key.keyPairId === keyPairId) + 1]
  return successor === undefined ? undefined : signsFrom(successor) + URL_LIFE_MILLISECONDS
}

/** Whether a key is older than the one that signs, so that it will not sign again. */
export function isSucceeded(keys: readonly SigningKey[], { keyPairId }: SigningKey, nowMilliseconds: number): boolean {
  const ordered = oldestFirst(keys)
  const place = ordered.findIndex((key) => key.keyPairId === keyPairId)
  const signing = keyThatSigns(keys, nowMilliseconds)
  return signing !== undefined && place < ordered.indexOf(signing)
}

/** Why a key may not be removed now, for the operator; undefined if it may. Without a key that signs, no video url works. */
export function whyKeyStays(
  keys: readonly SigningKey[],
  keyPairId: string,
  nowMilliseconds: number,
): string | undefined {
  const key = keys.find((each) => each.keyPairId === keyPairId)
  if (key === undefined) {
    return `there is no signing key ${keyPairId}`
  }
  return isSucceeded(keys, key, nowMilliseconds)
    ? undefined
    : `the key ${keyPairId} signs or will sign soon: rotate the keys, and remove it 15 minutes later, when its successor signs`
}

/** A signing key for an operator. Times in Unix milliseconds. */
export type SigningKeyView = {
  readonly keyPairId: string
  readonly createdAt: number
  /** `next`: the CDN knows the key, which signs from `signsFrom` on. `verifies`: it no longer signs, but its urls are valid. */
  readonly state: 'signs' | 'next' | 'verifies'
  readonly signsFrom: number
  /** When the next rotation removes the key; null for a key without a successor. */
  readonly neededUntil: number | null
}

/** Describes keys without their private halves, oldest first. */
export function describeKeys(keys: readonly SigningKey[], nowMilliseconds: number): SigningKeyView[] {
  const signing = keyThatSigns(keys, nowMilliseconds)?.keyPairId
  return keys
    .map((key): SigningKeyView => {
      const idle = isSucceeded(keys, key, nowMilliseconds) ? 'verifies' : 'next'
      return {
        keyPairId: key.keyPairId,
        createdAt: key.createdAt,
        state: key.keyPairId === signing ? 'signs' : idle,
        signsFrom: signsFrom(key),
        neededUntil: neededUntil(keys, key) ?? null,
      }
    })
    .toSorted((left, right) => left.createdAt - right.createdAt)
}

/** Orders by age; ids break ties, so that every function has the same order. */
function oldestFirst<Key extends SigningKey>(keys: readonly Key[]): Key[] {
  return keys.toSorted((left, right) => left.createdAt - right.createdAt || (left.keyPairId < right.keyPairId ? -1 : 1))
}
