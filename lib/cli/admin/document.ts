import type * as z from 'zod'
import type { AdminOperation, OutputOf } from '#lambdas/admin/operation.ts'

/** What people read about an operation. Only the generator of `admin-openapi.json`, the command line and tests load it. */
type Documentation<Output extends object> = {
  /** One line without a full stop, for menus and for the list of commands. */
  readonly summary: string
  /** More sentences of Markdown, about the request over HTTP. */
  readonly description?: string
  /** What the response is, such as `The key.` */
  readonly returns: string
  readonly output: z.ZodType<Output>
}

/** An operation with its documentation. */
export type DocumentedOperation = Documentation<object> & { readonly operation: AdminOperation }

/** Documents an operation. The schema of the output may not say more than `run` returns. */
export function documentOperation<Operation extends AdminOperation>(
  operation: Operation,
  documentation: Documentation<OutputOf<Operation>>,
) {
  return { operation, ...documentation }
}
