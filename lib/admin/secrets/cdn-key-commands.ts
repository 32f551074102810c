import type { AuditAction } from '#adapters/store/audit/audit-entry.ts'
import type { SigningKeyView } from '#core/cdn-signing-keys.ts'
import { recordEffect } from '../audit/record-effect.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import { importSigningKey } from './cdn-key-import.ts'
import { openSigningKeys } from './cdn-signing-keys.ts'

const KEY_PAIR_ID = { value: 'ID', summary: "CloudFront's id of the key", required: true } as const

/** Lists the keys of video urls without their private keys. @throws CommandFailedError. */
export const cdnKeyList: Command = {
  name: 'cdn-key list',
  summary: 'list the keys of video urls: the one that signs, and how long the others are needed',
  details: `next: known to the CDN, signs from the time shown. signs: signs all new urls. verifies: its urls are valid until the time shown.`,
  examples: ['cdn-key list --stage prod'],
  run: async (context) => describe(await (await openSigningKeys(context)).list()),
}

/** Creates a key beside the old one. @throws CommandFailedError if CloudFront has no room for it, or the team provides its own keys. */
export const cdnKeyRotate: Command = {
  name: 'cdn-key rotate',
  summary: 'create a key for video urls, which signs after 15 minutes',
  details: `Nothing breaks: the old key goes on to verify the urls that it signed. Keys that no valid url needs any more, eight days
after their successor began to sign, are removed.`,
  examples: ['cdn-key rotate --stage prod'],
  async run(context) {
    const keys = await (await openSigningKeys(context)).rotate()
    const newest = keys.toSorted((left, right) => right.createdAt - left.createdAt)[0]
    if (newest !== undefined) {
      await recordKey(context, { action: 'cdn-key rotate', keyPairId: newest.keyPairId, after: newest.state })
    }
    return describe(keys)
  },
}

/** Removes a key before its urls expire, as after a leak. @throws CommandFailedError for a key that signs. */
export const cdnKeyRemove: Command = {
  name: 'cdn-key remove',
  summary: 'remove a key of video urls at once, as after a leak; its urls stop working',
  details: `A key that signs, or is about to, is refused: rotate first, and remove the old one 15 minutes later. Clients get a fresh
url by asking for the job again.`,
  options: { 'key-pair-id': KEY_PAIR_ID },
  examples: ['cdn-key remove --key-pair-id K2JCJMDEHXQW5F --stage prod'],
  async run(context, values) {
    const keys = await openSigningKeys(context)
    const keyPairId = values.required('key-pair-id')
    await context.confirm(
      `The key ${keyPairId} of ${context.stage} will be removed; its urls stop working within minutes`,
    )
    const left = await keys.remove(keyPairId)
    await recordKey(context, { action: 'cdn-key remove', keyPairId, before: 'verifies' })
    return describe(left)
  },
}

/** Imports the private key of a key pair that the team created. @throws CommandFailedError if it does not match. */
export const cdnKeyImport: Command = {
  name: 'cdn-key import',
  summary: 'store the private key of a key pair that the team created',
  details: `For stages that were deployed with -c cdnPublicKey: the file is checked against CloudFront's public key of that id. The first
key signs at once, a further one after 15 minutes. Deploy its public half first, and delete the file afterwards.`,
  options: {
    'key-pair-id': KEY_PAIR_ID,
    'private-key-file': { value: 'FILE', summary: 'RSA private key in PEM, without a passphrase', required: true },
  },
  examples: ['cdn-key import --key-pair-id K2JCJMDEHXQW5F --private-key-file private.pem --stage prod'],
  async run(context, values) {
    const keys = await openSigningKeys(context)
    const keyPairId = values.required('key-pair-id')
    const startedAt = Date.now()
    const after = await importSigningKey(keys, { keyPairId, file: values.required('private-key-file') })
    const stored = after.find((key) => key.keyPairId === keyPairId)
    // A key that is imported again stays as old as it is.
    if (stored !== undefined && stored.createdAt >= startedAt) {
      await recordKey(context, { action: 'cdn-key import', keyPairId, after: stored.state })
    }
    return describe(after)
  },
}

type KeyChange = {
  readonly action: AuditAction
  readonly keyPairId: string
  readonly before?: string
  readonly after?: string
}

/** Recorded after the change, because the function or CloudFront may refuse the change, and a rotation chooses the id. */
async function recordKey(context: AdminContext, { action, keyPairId, before, after }: KeyChange): Promise<void> {
  await recordEffect(context, {
    action,
    target: { kind: 'cdn-key', id: keyPairId },
    before: before === undefined ? null : { state: before },
    after: after === undefined ? null : { state: after },
  })
}

function describe(keys: readonly SigningKeyView[]): Answer {
  const shown = keys.map(({ keyPairId, state, createdAt, signsFrom, neededUntil }) => ({
    key_pair_id: keyPairId,
    state,
    created_at: isoTimeInSeconds(createdAt),
    signs_from: state === 'next' ? isoTimeInSeconds(signsFrom) : null,
    needed_until: neededUntil === null ? null : isoTimeInSeconds(neededUntil),
  }))
  const rows = shown.map((key) => [key.key_pair_id, key.state, key.created_at, key.signs_from, key.needed_until])
  const header = ['KEY PAIR', 'STATE', 'CREATED', 'SIGNS FROM', 'NEEDED UNTIL']
  return {
    json: { keys: shown },
    text: shown.length === 0 ? 'there is no key: video urls cannot be signed' : formatTable(header, rows),
  }
}

function isoTimeInSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+/, '')
}
