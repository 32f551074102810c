import { sha256Hex } from '#platform/crypto.ts'
import {
  type CloudFrontClient,
  CreateKeyGroupCommand,
  CreatePublicKeyCommand,
  DeleteKeyGroupCommand,
  DeletePublicKeyCommand,
  GetKeyGroupCommand,
  GetPublicKeyCommand,
  ListKeyGroupsCommand,
  ListPublicKeysCommand,
  NoSuchPublicKey,
  NoSuchResource,
  PublicKeyAlreadyExists,
  PublicKeyInUse,
  ResourceInUse,
  UpdateKeyGroupCommand,
} from './cloudfront-client.ts'

/** Most pages of 100 entries. The default quotas of CloudFront are ten public keys and ten key groups per account. */
const PAGES_MAX = 20

/** Characters of the digest in the name of a key. */
const DIGEST_CHARACTERS = 16

/** A reply of CloudFront lacks a field that its reference promises. */
class IncompleteReplyError extends Error {
  override readonly name = 'IncompleteReplyError'
}

/** The key group of a stack and its public keys. Every step can be repeated. */
export class KeyGroup {
  readonly #client: CloudFrontClient
  readonly #name: string

  /** `name` is unique in the account. */
  constructor(client: CloudFrontClient, name: string) {
    this.#client = client
    this.#name = name
  }

  /** Creates a public key in CloudFront unless it exists. @returns its id. */
  async publish(publicKeyPem: string): Promise<string> {
    const known = await this.#findPublicKey(publicKeyPem)
    if (known !== undefined) {
      return known
    }
    const Name = `${this.#name}-${sha256Hex(publicKeyPem).slice(0, DIGEST_CHARACTERS)}`
    const PublicKeyConfig = { CallerReference: Name, Name, EncodedKey: publicKeyPem, Comment: 'Reelgate video urls' }
    try {
      const { PublicKey } = await this.#client.send(new CreatePublicKeyCommand({ PublicKeyConfig }))
      return present(PublicKey?.Id)
    } catch (error) {
      const other = error instanceof PublicKeyAlreadyExists ? await this.#findPublicKey(publicKeyPem) : undefined
      if (other === undefined) {
        throw error
      }
      return other
    }
  }

  /** Makes the group hold exactly these public keys. @returns the id of the group. */
  async hold(keyPairIds: readonly string[]): Promise<string> {
    const KeyGroupConfig = { Name: this.#name, Items: [...keyPairIds], Comment: 'Reelgate video urls' }
    const Id = await this.#find()
    if (Id === undefined) {
      const { KeyGroup: made } = await this.#client.send(new CreateKeyGroupCommand({ KeyGroupConfig }))
      return present(made?.Id)
    }
    const { KeyGroup: current, ETag } = await this.#client.send(new GetKeyGroupCommand({ Id }))
    const held = new Set(current?.KeyGroupConfig?.Items)
    if (held.size !== keyPairIds.length || keyPairIds.some((id) => !held.has(id))) {
      await this.#client.send(new UpdateKeyGroupCommand({ Id, KeyGroupConfig, IfMatch: ETag }))
    }
    return Id
  }

  /**
   * Deletes the group, unless it is gone or a distribution still trusts it.
   * @returns the ids of the public keys that it held.
   */
  async remove(): Promise<readonly string[]> {
    const Id = await this.#find()
    if (Id === undefined) {
      return []
    }
    try {
      const { KeyGroup: current, ETag } = await this.#client.send(new GetKeyGroupCommand({ Id }))
      await this.#client.send(new DeleteKeyGroupCommand({ Id, IfMatch: ETag }))
      return current?.KeyGroupConfig?.Items ?? []
    } catch (error) {
      if (error instanceof ResourceInUse || error instanceof NoSuchResource) {
        return []
      }
      throw error
    }
  }

  /** Deletes a public key. @returns false if a group still holds it. */
  async withdraw(keyPairId: string): Promise<boolean> {
    try {
      const { ETag } = await this.#client.send(new GetPublicKeyCommand({ Id: keyPairId }))
      await this.#client.send(new DeletePublicKeyCommand({ Id: keyPairId, IfMatch: ETag }))
      return true
    } catch (error) {
      if (error instanceof PublicKeyInUse) {
        return false
      }
      if (error instanceof NoSuchPublicKey) {
        return true
      }
      throw error
    }
  }

  /** The id of the public key with the same bytes. */
  async #findPublicKey(publicKeyPem: string): Promise<string | undefined> {
    let Marker: string | undefined
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const { PublicKeyList: list } = await this.#client.send(new ListPublicKeysCommand({ Marker }))
      const found = list?.Items?.find(({ EncodedKey }) => EncodedKey?.trim() === publicKeyPem.trim())
      if (found !== undefined) {
        return present(found.Id)
      }
      Marker = list?.NextMarker || undefined
      if (Marker === undefined) {
        break
      }
    }
    return undefined
  }

  async #find(): Promise<string | undefined> {
    let Marker: string | undefined
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const { KeyGroupList: list } = await this.#client.send(new ListKeyGroupsCommand({ Marker }))
      const found = list?.Items?.find((item) => item.KeyGroup?.KeyGroupConfig?.Name === this.#name)
      if (found !== undefined) {
        return found.KeyGroup?.Id
      }
      Marker = list?.NextMarker || undefined
      if (Marker === undefined) {
        break
      }
    }
    return undefined
  }
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) {
    throw new IncompleteReplyError('the reply of CloudFront lacks a field')
  }
  return value
}
