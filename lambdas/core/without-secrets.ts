const LABEL = '[redacted]'

/** API keys, admin keys, tokens of sessions, callback secrets, private keys, SHA-256 digests, and signatures of urls. */
const SECRETS =
  /rg_[a-z]+_[0-9A-Za-z]{8}_[0-9A-Za-z]+|\b[0-9A-Za-z]{16}\.(?:n|[ak][0-9A-Za-z]+)\.[0-9A-Za-z_-]{43}|whsec_[0-9A-Za-z+/=_-]+|-----BEGIN.*|\b[0-9a-f]{64}\b|(?<=[?&](?:X-Amz-)?Signature=)[^&\s]+/gs

/** A string without what looks like a secret of this service: an operator may paste one into a name or a reason by mistake. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRETS, LABEL)
}
