import type { IncomingMessage } from 'node:http'
import { HttpError, InvalidApiKeyError } from '#core/errors.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { SMALL_BODY_BYTES } from '#platform/http-server/request-bodies.ts'
import { presentedKey } from './authenticate.ts'
import { openCallerContext } from './caller-context.ts'
import { findShown } from './find-shown.ts'

type Sender = Pick<IncomingMessage, 'headers' | 'headersDistinct' | 'socket'> & Partial<Pick<IncomingMessage, 'url'>>

/**
 * Small bodies share one budget, because their keys may be invented: an owner for each would take the room of the large bodies of known
 * keys. Above it, the largest gives way.
 */
const SMALL = 'small bodies'

/**
 * Who holds the memory of a body that is being read: the tenant of the key, for a small body all senders of such together, and for a
 * route that takes no key the address. Undefined for a request whose
 * key is missing, malformed, or, if the body is large, unknown: nobody reads its body, and its operation refuses it for the key.
 * @param takesKey whether the operation needs a key.
 */
export async function bodyOwner(request: Sender, takesKey: boolean): Promise<string | undefined> {
  try {
    const path = request.url?.split('?', 1)[0] ?? ''
    const headerLines = (name: string) => request.headersDistinct[name] ?? []
    const key = takesKey ? presentedKey({ path, headerLines }) : undefined
    if (key === undefined) {
      return `address ${request.socket.remoteAddress}`
    }
    return isSmall(request.headers) ? SMALL : await tenantOf(key)
  } catch (error) {
    if (error instanceof InvalidApiKeyError) {
      return undefined
    }
    throw error
  }
}

/** A body without a length may become large. */
function isSmall({ 'content-length': length, 'transfer-encoding': coding }: IncomingMessage['headers']): boolean {
  return coding === undefined && Number(length ?? 0) <= SMALL_BODY_BYTES
}

/** While the table is out of reach, the key stands for its tenant; the operation says what is wrong. */
async function tenantOf(key: string): Promise<string | undefined> {
  try {
    const { caller } = await findShown(key, (keyDigest) => openCallerContext().callers.lookUp(keyDigest))
    return `tenant ${caller.tenantId}`
  } catch (error) {
    return error instanceof HttpError && error.statusCode < 500 ? undefined : `key ${sha256Hex(key)}`
  }
}
