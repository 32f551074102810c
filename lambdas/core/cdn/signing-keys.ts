/** A key that CloudFront verifies video urls with, as it is known by its id. */
export type SigningKey = {
  /** CloudFront's id of the public half, in each url that the key signed. */
  readonly keyPairId: string
  /** Unix milliseconds: when the CDN was told of it. */
  readonly createdAt: number
}

/**
 * How long a new key waits before it signs. CloudFront says "deploying" for some minutes after a change, and an instance
 * may know the secret of five minutes ago; until all of both know the key, its urls would be refused somewhere.
 */
const SETTLING_MILLISECONDS = 15 * 60 * 1000

/** Video urls live seven days at most; a day more for clocks and for whoever signed from what it had read before. */
const URL_LIFE_MILLISECONDS = 8 * 24 * 60 * 60 * 1000

/** Public keys in one key group (Amazon CloudFront developer guide, "Quotas on key groups"). */
export const SIGNING_KEYS_MAX = 5

/** CloudFront accepts RSA keys of exactly this length for signed urls (developer guide, "Create key pairs for your signers"). */
export const SIGNING_KEY_BITS = 2048

/** The key that signs now: the newest that every edge of the CDN knows; where there is none yet, the oldest. */
export function keyThatSigns<Key extends SigningKey>(keys: readonly Key[], nowMilliseconds: number): Key | undefined {
  const [oldest, ...newer] = oldestFirst(keys)
  return newer.findLast(({ createdAt }) => createdAt + SETTLING_MILLISECONDS <= nowMilliseconds) ?? oldest
}

/** When a key begins to sign, in Unix milliseconds; in the past for one that does or did. */
export function signsFrom({ createdAt }: SigningKey): number {
  return createdAt + SETTLING_MILLISECONDS
}

/**
 * When no valid url needs a key any more: eight days after its successor began to sign, in Unix milliseconds. Undefined for
 * the newest key, which nothing succeeds.
 */
export function neededUntil(keys: readonly SigningKey[], { keyPairId }: Pick<SigningKey, 'keyPairId'>) {
  const ordered = oldestFirst(keys)
  const successor = ordered[ordered.findIndex((key) => key.keyPairId === keyPairId) + 1]
  return successor === undefined ? undefined : signsFrom(successor) + URL_LIFE_MILLISECONDS
}

/** Whether a key is older than the one that signs, so that nothing signs with it now or later. */
export function isSucceeded(keys: readonly SigningKey[], { keyPairId }: SigningKey, nowMilliseconds: number): boolean {
  const ordered = oldestFirst(keys)
  const place = ordered.findIndex((key) => key.keyPairId === keyPairId)
  const signing = keyThatSigns(keys, nowMilliseconds)
  return signing !== undefined && place < ordered.indexOf(signing)
}

/**
 * Why a key may not be removed now, as a sentence for the operator; undefined when it may. A key that signs, or is about to,
 * stays: without it no video url would work.
 */
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
    : `the key ${keyPairId} signs, or is about to: rotate, and remove it 15 minutes later, when its successor signs`
}

/** Ids break ties, so that every function orders keys the same way. */
function oldestFirst<Key extends SigningKey>(keys: readonly Key[]): Key[] {
  return keys.toSorted((left, right) => left.createdAt - right.createdAt || (left.keyPairId < right.keyPairId ? -1 : 1))
}
