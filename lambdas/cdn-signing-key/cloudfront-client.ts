/** What the keys' function takes of the CDN's client, named so that a bundle keeps nothing else of it. */
export {
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
  NoSuchResource,
  PublicKeyAlreadyExists,
  PublicKeyInUse,
  ResourceInUse,
  UpdateKeyGroupCommand,
} from '@aws-sdk/client-cloudfront'
