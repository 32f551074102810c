import { type HttpServer, listen } from '#adapters/http-server/http-server.ts'
import { readBody } from '#adapters/http-server/read-body.ts'

const REQUEST_BYTES_MAX = 100_000

/** Secrets by their ARN. */
export type Secrets = Map<string, string>

/** As much of Secrets Manager as functions use. An unknown secret is deployed empty; what is put becomes current when its label moves. */
export function startSecretsStub(secrets: Secrets): Promise<HttpServer> {
  const versions = new Map<string, string>()
  return listen(async (request, response) => {
    const input = JSON.parse((await readBody(request, REQUEST_BYTES_MAX)).toString('utf8'))
    const { SecretId } = input
    const operation = String(request.headers['x-amz-target']).split('.')[1]
    if (operation === 'PutSecretValue') {
      versions.set(input.ClientRequestToken, input.SecretString)
    } else if (operation === 'UpdateSecretVersionStage') {
      secrets.set(SecretId, versions.get(input.MoveToVersionId) ?? '')
    }
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' })
    response.end(JSON.stringify({ ARN: SecretId, VersionId: 'current', SecretString: secrets.get(SecretId) ?? '{}' }))
  }, 0)
}
