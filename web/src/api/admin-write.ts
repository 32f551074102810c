import { adminRequest } from './admin-request.ts'
import { queryClient } from './query-client.ts'

/** Sends a request with an effect, and lets every page ask again for what it shows. @throws ApiError */
export async function adminWrite(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown> {
  const response = await adminRequest(path, { method, ...(body === undefined ? {} : { body }) })
  await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  return response
}
