import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { BroughtSigningKeys, CdnSigningKey, type SigningKeyResources } from '#stack/video-delivery.ts'
import { resourcesOf, synthesizeAlone } from './synthesize-stack.ts'

const newPublicKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' }).toString()

describe('generated signing keys', () => {
  const template = synthesizeAlone((stack) => {
    new CdnSigningKey(stack, 'CdnSigningKey', { root: REPOSITORY_ROOT, configurationFile: 'gateway.json' })
  })
  const [group] = resourcesOf(template, 'Custom::CdnKeyGroup')
  const [maker] = resourcesOf(template, 'AWS::Lambda::Function')
  const [secret] = resourcesOf(template, 'AWS::SecretsManager::Secret')
  const statements: { Action: string[]; Resource: unknown }[] = resourcesOf(template, 'AWS::IAM::Policy').flatMap(
    ({ properties }) => properties.PolicyDocument.Statement,
  )
  const actionsOf = (service: string) =>
    statements.flatMap(({ Action }) => Action).filter((action) => action.startsWith(`${service}:`))

  it('come from a function that can change only this secret, public keys and key groups', () => {
    expect(statements.find(({ Action }) => Action[0]?.startsWith('secretsmanager:'))).toMatchObject({
      Action: ['GetSecretValue', 'PutSecretValue', 'UpdateSecretVersionStage'].map((name) => `secretsmanager:${name}`),
      Resource: { Ref: secret?.id },
    })
    const groupActions = ['CreateKeyGroup', 'DeleteKeyGroup', 'GetKeyGroup', 'ListKeyGroups', 'UpdateKeyGroup']
    const keyActions = ['CreatePublicKey', 'DeletePublicKey', 'GetPublicKey', 'ListPublicKeys']
    expect(actionsOf('cloudfront').sort()).toEqual(
      [...groupActions, ...keyActions].map((name) => `cloudfront:${name}`).sort(),
    )
    const services = statements.flatMap(({ Action }) => Action).map((action) => action.split(':')[0])
    expect([...new Set(services)].sort()).toEqual(['cloudfront', 'logs', 'secretsmanager', 'xray'])
  })

  it('depend on the permissions of the function, which are deleted after them', () => {
    const resource = Object.values(template.findResources('Custom::CdnKeyGroup'))[0]
    const policies = resourcesOf(template, 'AWS::IAM::Policy').map(({ id }) => id)
    expect(resource?.DependsOn).toEqual(expect.arrayContaining(policies))
  })

  it('are in a key group whose name is unique to the stack and region', () => {
    const name = group?.properties.KeyGroupName
    expect(name).toEqual({
      'Fn::Join': ['', [{ Ref: 'AWS::StackName' }, '-video-urls-', { Ref: 'AWS::Region' }]],
    })
    expect(maker?.properties.Environment.Variables).toMatchObject({
      CDN_KEY_GROUP_NAME: name,
      CDN_SIGNING_KEY_SECRET_ARN: { Ref: secret?.id },
    })
  })

  it('start from an empty secret, and the template contains no key', () => {
    expect(secret?.properties.SecretString).toBe('{}')
    expect(JSON.stringify(template.toJSON())).not.toMatch(/BEGIN|PublicKeyPem/)
  })
})

describe('signing keys of the team', () => {
  const pems = [newPublicKey(), newPublicKey()]
  const made: SigningKeyResources[] = []
  const synthesizeKeys = (publicKeyPems: readonly string[]) =>
    synthesizeAlone((stack) => made.push(new BroughtSigningKeys(stack, 'CdnSigningKey', publicKeyPems)))
  const template = synthesizeKeys(pems)
  const publicKeys = resourcesOf(template, 'AWS::CloudFront::PublicKey')

  it('are public keys in one group, with an empty secret for the private keys', () => {
    expect(publicKeys.map(({ properties }) => properties.PublicKeyConfig.EncodedKey)).toEqual(pems)
    const [group] = resourcesOf(template, 'AWS::CloudFront::KeyGroup')
    expect(group?.properties.KeyGroupConfig.Items).toEqual(publicKeys.map(({ id }) => ({ Ref: id })))
    expect(
      resourcesOf(template, 'AWS::SecretsManager::Secret').map(({ properties }) => properties.SecretString),
    ).toEqual(['{}'])
  })

  it('need no function', () => {
    expect(resourcesOf(template, 'AWS::Lambda::Function')).toEqual([])
    expect(made[0]?.functionName).toBeUndefined()
  })

  it('keep their resources when another key is added before them', () => {
    const added = resourcesOf(synthesizeKeys([newPublicKey(), ...pems]), 'AWS::CloudFront::PublicKey')
    for (const { id, properties } of publicKeys) {
      expect(added.find((each) => each.id === id)?.properties.PublicKeyConfig.EncodedKey).toBe(
        properties.PublicKeyConfig.EncodedKey,
      )
    }
    expect(added).toHaveLength(3)
  })
})
