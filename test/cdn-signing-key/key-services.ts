import {
  CloudFrontClient,
  CreateKeyGroupCommand,
  CreatePublicKeyCommand,
  DeleteKeyGroupCommand,
  DeletePublicKeyCommand,
  GetKeyGroupCommand,
  GetPublicKeyCommand,
  ListKeyGroupsCommand,
  ListPublicKeysCommand,
  NoSuchPublicKey,
  PreconditionFailed,
  PublicKeyAlreadyExists,
  PublicKeyInUse,
  ResourceInUse,
  UpdateKeyGroupCommand,
} from '@aws-sdk/client-cloudfront'
import {
  GetSecretValueCommand,
  InvalidParameterException,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager'
import { mockClient } from 'aws-sdk-client-mock'

type PublicKey = { readonly Id: string; readonly Name: string; readonly EncodedKey: string }
type Group = { readonly Id: string; readonly Name: string; Items: readonly string[]; revision: number }

const fault = (message: string) => ({ message, $metadata: {} })

/** One secret with versions and labels, as far as `replace-secret.ts` uses them. */
export class FakeSecret {
  readonly #versions = new Map<string, string>()
  #currentId = 'first'
  /** Runs before each reading, and may throw. */
  beforeRead: () => void = () => undefined
  /** Runs before a label is moved: what a second writer does in between. */
  beforeMove: () => void = () => undefined

  constructor() {
    const client = mockClient(SecretsManagerClient)
    client.on(GetSecretValueCommand).callsFake(() => {
      this.beforeRead()
      return { SecretString: this.text, VersionId: this.#currentId }
    })
    client.on(PutSecretValueCommand).callsFake((input) => {
      this.#versions.set(input.ClientRequestToken, input.SecretString)
      this.#currentId = input.VersionStages.includes('AWSCURRENT') ? input.ClientRequestToken : this.#currentId
      return {}
    })
    client.on(UpdateSecretVersionStageCommand).callsFake((input) => {
      this.beforeMove()
      if (input.VersionStage !== 'AWSCURRENT' || input.RemoveFromVersionId !== this.#currentId) {
        throw new InvalidParameterException(fault('the label is on another version'))
      }
      this.#currentId = input.MoveToVersionId
      return {}
    })
    this.text = '{}'
  }

  get text(): string {
    return this.#versions.get(this.#currentId) ?? '{}'
  }

  /** Writes as somebody else. */
  set text(text: string) {
    this.#currentId = `version-${this.#versions.size}`
    this.#versions.set(this.#currentId, text)
  }

  get keys(): { keyPairId?: string; privateKeyPem: string; createdAt: number }[] {
    return JSON.parse(this.text).keys
  }
}

/** CloudFront's public keys and key groups, with its rules about what is in use. */
export class FakeCloudFront {
  readonly publicKeys = new Map<string, PublicKey>()
  readonly groups = new Map<string, Group>()
  /** Ids of groups that a distribution trusts. */
  readonly trusted = new Set<string>()
  /** Runs before an operation of this name, and may throw. */
  before: Readonly<Record<string, () => void>> = {}
  #made = 0
  readonly #client = mockClient(CloudFrontClient)

  constructor() {
    const client = this.#client
    client.on(ListPublicKeysCommand).callsFake(() => ({ PublicKeyList: { Items: [...this.publicKeys.values()] } }))
    client.on(CreatePublicKeyCommand).callsFake(({ PublicKeyConfig: { Name, EncodedKey } }) => {
      this.before.CreatePublicKey?.()
      if ([...this.publicKeys.values()].some((key) => key.Name === Name)) {
        throw new PublicKeyAlreadyExists(fault('it exists'))
      }
      return { PublicKey: { Id: this.addPublicKey({ Name, EncodedKey }) } }
    })
    client.on(GetPublicKeyCommand).callsFake(({ Id }) => {
      this.#requirePublicKey(Id)
      return { ETag: 'E1', PublicKey: { Id, PublicKeyConfig: this.publicKeys.get(Id) } }
    })
    client.on(DeletePublicKeyCommand).callsFake(({ Id }) => {
      this.#requirePublicKey(Id)
      if ([...this.groups.values()].some(({ Items }) => Items.includes(Id))) {
        throw new PublicKeyInUse(fault('it is in use'))
      }
      this.publicKeys.delete(Id)
      return {}
    })
    this.#fakeGroups()
  }

  addPublicKey({ Name = 'made by hand', EncodedKey }: { Name?: string; EncodedKey: string }): string {
    this.#made += 1
    const Id = `K${this.#made}`
    this.publicKeys.set(Id, { Id, Name, EncodedKey })
    return Id
  }

  #fakeGroups(): void {
    const client = this.#client
    client
      .on(ListKeyGroupsCommand)
      .callsFake(() => ({ KeyGroupList: { Items: [...this.groups.values()].map(summaryOf) } }))
    client.on(CreateKeyGroupCommand).callsFake(({ KeyGroupConfig: { Name, Items } }) => {
      this.before.CreateKeyGroup?.()
      this.#made += 1
      const Id = `group-${this.#made}`
      this.groups.set(Id, { Id, Name, Items, revision: 1 })
      return { KeyGroup: { Id } }
    })
    client.on(GetKeyGroupCommand).callsFake(({ Id }) => {
      const group = this.groups.get(Id)
      return { KeyGroup: group && summaryOf(group).KeyGroup, ETag: String(group?.revision) }
    })
    client.on(UpdateKeyGroupCommand).callsFake(({ Id, KeyGroupConfig, IfMatch }) => {
      this.before.UpdateKeyGroup?.()
      const group = this.groups.get(Id)
      if (group === undefined || IfMatch !== String(group.revision)) {
        throw new PreconditionFailed(fault('it changed'))
      }
      group.Items = KeyGroupConfig.Items
      group.revision += 1
      return {}
    })
    client.on(DeleteKeyGroupCommand).callsFake(({ Id }) => {
      if (this.trusted.has(Id)) {
        throw new ResourceInUse(fault('a distribution trusts it'))
      }
      this.groups.delete(Id)
      return {}
    })
  }

  #requirePublicKey(id: string): void {
    if (!this.publicKeys.has(id)) {
      throw new NoSuchPublicKey(fault('no such key'))
    }
  }
}

function summaryOf({ Id, Name, Items }: Group) {
  return { KeyGroup: { Id, KeyGroupConfig: { Name, Items: [...Items] } } }
}
