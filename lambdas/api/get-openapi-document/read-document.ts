import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCUMENT_SERVER } from '#core/api/routes.ts'
import { once } from '#platform/cache.ts'
import { sha256Hex } from '#platform/crypto.ts'

/** The OpenAPI document as it is served, and a strong entity tag of its bytes. */
export type OpenapiDocument = { readonly text: string; readonly etag: string }

/** Half of the digest tells two versions of a document apart. */
const ETAG_CHARACTERS = 32

/** Read once per process. @throws the error of the file system when the deployment has no such file. */
const readFile: () => string = once(() => {
  const file = process.env.OPENAPI_FILE ?? join(process.env.LAMBDA_TASK_ROOT ?? '.', 'openapi.json')
  return readFileSync(file, 'utf8')
})

/**
 * The file that lies beside the code, with this server in place of its own; as it is without one.
 * @throws the error of the file system when the deployment has no such file.
 */
export function readDocument(serverUrl: string = DOCUMENT_SERVER): OpenapiDocument {
  const text = readFile().replace(JSON.stringify(DOCUMENT_SERVER), () => JSON.stringify(serverUrl))
  return { text, etag: `"${sha256Hex(text).slice(0, ETAG_CHARACTERS)}"` }
}
