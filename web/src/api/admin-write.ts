import { adminRequest } from './admin-request.ts'
import type { AdminPath } from './admin-types.ts'
import { queryClient } from './query-client.ts'

/** More about a request with an effect. */
type WriteOptions = {
  /** The path of what the request deletes: its page is left and asks no more. */
  readonly deletes?: AdminPath
}

/** Sends a request with an effect, and lets every page ask again for what it shows. @throws ApiError */
export async function adminWrite(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  { deletes }: WriteOptions = {},
): Promise<unknown> {
  const response = await adminRequest(path, { method, ...(body === undefined ? {} : { body }) })
  await queryClient.invalidateQueries({ predicate: ({ queryKey: [of] }) => of !== 'session' && of !== deletes })
  return response
}
