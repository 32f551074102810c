import type { IncomingHttpHeaders } from 'node:http'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { readBody } from '#platform/http-server/request-bodies.ts'

const REQUEST_BYTES_MAX = 100_000
const LIST_BOUNDS = '<MaxItems>100</MaxItems><Quantity>1</Quantity>'

/** Public keys and key groups, each as the XML of its configuration, by id. */
export type CloudFrontKeys = { readonly publicKeys: Map<string, string>; readonly keyGroups: Map<string, string> }

/** As much of CloudFront as functions use, in its own XML: public keys and key groups. Nothing is checked. */
export function startCloudFrontStub({ publicKeys, keyGroups }: CloudFrontKeys): Promise<HttpServer> {
  return listen(async (request, response) => {
    const body = (await readBody(request, REQUEST_BYTES_MAX)).toString('utf8')
    const [, , collection = '', id] = new URL(request.url ?? '', 'http://stub').pathname.split('/')
    const send = (text: string) =>
      response.writeHead(200, { 'content-type': 'text/xml', etag: 'E1' }).end(`<?xml version="1.0"?>${text}`)
    const isKeys = collection === 'public-key'
    const store = isKeys ? publicKeys : keyGroups
    if (request.method === 'POST' || request.method === 'PUT') {
      const keptId = id ?? `${isKeys ? 'KSTUB' : 'GSTUB'}${store.size + 1}`
      store.set(keptId, body.replace(/<\?xml[^>]*>/, ''))
      send(isKeys ? publicKey(keptId, store) : keyGroup(keptId, store))
    } else if (id !== undefined) {
      send(isKeys ? publicKey(id, store) : keyGroup(id, store))
    } else {
      const list = [...store.keys()].map((each) =>
        isKeys ? summaryOf(each, store) : `<KeyGroupSummary>${keyGroup(each, store)}</KeyGroupSummary>`,
      )
      const name = isKeys ? 'PublicKeyList' : 'KeyGroupList'
      send(`<${name}>${LIST_BOUNDS}<Items>${list.join('')}</Items></${name}>`)
    }
  }, 0)
}

const CREATED = '<CreatedTime>2026-11-21T00:00:00Z</CreatedTime>'

function publicKey(id: string, store: ReadonlyMap<string, string>): string {
  return `<PublicKey><Id>${id}</Id>${CREATED}${store.get(id)}</PublicKey>`
}

/** The members of a configuration, one level up. */
function summaryOf(id: string, store: ReadonlyMap<string, string>): string {
  const members = store.get(id)?.replace(/<\/?PublicKeyConfig[^>]*>/g, '') ?? ''
  return `<PublicKeySummary><Id>${id}</Id>${CREATED}${members}</PublicKeySummary>`
}

function keyGroup(id: string, store: ReadonlyMap<string, string>): string {
  const modified = '<LastModifiedTime>2026-11-21T00:00:00Z</LastModifiedTime>'
  return `<KeyGroup><Id>${id}</Id>${modified}${store.get(id)}</KeyGroup>`
}

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

export type Received = {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Takes whatever it is sent and says 200: a client's callback url, CloudFormation's answer url. */
export async function startReceiver(): Promise<{ origin: string; received: Received[]; close(): Promise<void> }> {
  const received: Received[] = []
  const server = await listen(async (request, response) => {
    const text = (await readBody(request, REQUEST_BYTES_MAX)).toString('utf8')
    received.push({ method: request.method, path: request.url, headers: request.headers, text })
    response.end()
  }, 0)
  return { origin: `http://127.0.0.1:${server.port}`, received, close: () => server.close() }
}
