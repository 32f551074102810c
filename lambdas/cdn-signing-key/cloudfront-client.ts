/** The used exports of the CloudFront client, so that the bundle leaves out all others. */
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
