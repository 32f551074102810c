/** Why one item of a cancelled transaction stood in its way; `Item` where its old values were asked for. */
export type CancellationReason = { readonly Code?: string; readonly Item?: Readonly<Record<string, unknown>> }

/**
 * An AWS service refused a request, or failed. It has the members that the SDK's own errors have and code looks at:
 * `name` is the service's word for it, `$fault` says whose it was.
 */
export class AwsServiceError extends Error {
  override readonly name: string
  readonly $fault: 'client' | 'server'
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId: string | undefined }
  /** One for each item of a cancelled transaction, in their order. */
  readonly CancellationReasons: readonly CancellationReason[] | undefined
  /** The item that refused an update, where its old values were asked for, in the wire's form. */
  readonly Item: unknown

  constructor(status: number, requestId: string | undefined, body: Readonly<Record<string, unknown>> = {}) {
    const { __type: type, message, Message, CancellationReasons: reasons, Item } = body
    const name = typeof type === 'string' ? type.slice(type.indexOf('#') + 1) : 'UnknownError'
    super(String(message ?? Message ?? name))
    this.name = name
    this.$fault = status < 500 ? 'client' : 'server'
    this.$metadata = { httpStatusCode: status, requestId }
    this.CancellationReasons = Array.isArray(reasons) ? reasons : undefined
    this.Item = Item
  }
}

/**
 * No whole answer came: no connection, none in time, or one that broke. The service may have done its work.
 * Without `$fault` it counts as contention, as the SDK's errors of the network do (`stores/conflict-retry.ts`).
 */
export class AwsConnectionError extends Error {
  override readonly name = 'AwsConnectionError'
  readonly $metadata = {}
}
