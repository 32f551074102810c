import { type LocalServer, listen } from '#local/http-server.ts'
import { readBody } from '#local/read-body.ts'

const REQUEST_BYTES_MAX = 100_000

/** Secrets by their ARN. */
export type Secrets = Map<string, string>

/** As much of Secrets Manager as functions use: GetSecretValue and PutSecretValue. An unknown secret is deployed empty. */
export function startSecretsStub(secrets: Secrets): Promise<LocalServer> {
  return listen(async (request, response) => {
    const { SecretId, SecretString } = JSON.parse((await readBody(request, REQUEST_BYTES_MAX)).toString('utf8'))
    if (String(request.headers['x-amz-target']).endsWith('.PutSecretValue')) {
      secrets.set(SecretId, SecretString)
    }
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' })
    response.end(JSON.stringify({ ARN: SecretId, SecretString: secrets.get(SecretId) ?? '{}' }))
  }, 0)
}
