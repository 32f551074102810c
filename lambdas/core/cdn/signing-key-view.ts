import { isSucceeded, keyThatSigns, neededUntil, type SigningKey, signsFrom } from './signing-keys.ts'

/** A signing key as an operator sees it. Times in Unix milliseconds. */
export type SigningKeyView = {
  readonly keyPairId: string
  readonly createdAt: number
  /** `next`: known to the CDN, signs from `signsFrom` on. `verifies`: signs no more, and its urls are still valid. */
  readonly state: 'signs' | 'next' | 'verifies'
  readonly signsFrom: number
  /** When the next rotation removes it; null for one that nothing has succeeded. */
  readonly neededUntil: number | null
}

/** What there is to say of keys without their private halves, oldest first. */
export function describeKeys(keys: readonly SigningKey[], nowMilliseconds: number): SigningKeyView[] {
  const signing = keyThatSigns(keys, nowMilliseconds)?.keyPairId
  return keys
    .map((key) => ({
      keyPairId: key.keyPairId,
      createdAt: key.createdAt,
      state: stateOf(keys, key, { signing, nowMilliseconds }),
      signsFrom: signsFrom(key),
      neededUntil: neededUntil(keys, key) ?? null,
    }))
    .toSorted((left, right) => left.createdAt - right.createdAt)
}

function stateOf(
  keys: readonly SigningKey[],
  key: SigningKey,
  { signing, nowMilliseconds }: { signing: string | undefined; nowMilliseconds: number },
): SigningKeyView['state'] {
  if (key.keyPairId === signing) {
    return 'signs'
  }
  return isSucceeded(keys, key, nowMilliseconds) ? 'verifies' : 'next'
}
