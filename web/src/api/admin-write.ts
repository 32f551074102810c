import { fillPath } from '../core/fill-path.ts'
import { adminRequest, type Query } from './admin-request.ts'
import type { WriteInput, WriteMethod, WritePath, WriteResult } from './admin-types.ts'
import { queryClient } from './query-client.ts'

type Input = { readonly path?: Readonly<Record<string, string>>; readonly query?: Query; readonly body?: object }

/**
 * Sends a request with an effect, and lets every page ask again for what it shows. Path, ids, query, body and result are those of
 * `admin-openapi.json`.
 * @throws ApiError
 */
export async function adminWrite<Method extends WriteMethod, Path extends WritePath<Method>>(
  method: Method,
  path: Path,
  input: WriteInput<Method, Path>,
): Promise<WriteResult<Method, Path>> {
  const { path: ids = {}, query, body }: Input = input
  const result = await adminRequest(fillPath(path, ids), {
    method,
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
  })
  // What is deleted is not asked for again: its page is left.
  const isAskedAgain = (of: unknown) => of !== 'session' && !(method === 'DELETE' && of === path)
  await queryClient.invalidateQueries({ predicate: ({ queryKey: [of] }) => isAskedAgain(of) })
  return result as WriteResult<Method, Path>
}
