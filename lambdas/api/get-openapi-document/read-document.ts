import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { once } from '#adapters/once.ts'

/** The OpenAPI document as it lies beside the code, and a strong entity tag of its bytes. */
export type OpenapiDocument = { readonly text: string; readonly etag: string }

/** Half of the digest tells two versions of a document apart. */
const ETAG_CHARACTERS = 32

/** Read once per process. @throws the error of the file system when the deployment has no such file. */
export const readDocument: () => OpenapiDocument = once(() => {
  const file = process.env.OPENAPI_FILE ?? join(process.env.LAMBDA_TASK_ROOT ?? '.', 'openapi.json')
  const text = readFileSync(file, 'utf8')
  return { text, etag: `"${sha256Hex(text).slice(0, ETAG_CHARACTERS)}"` }
})
