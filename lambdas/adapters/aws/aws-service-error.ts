/** The part of one item in the cancellation of a transaction; `Item` holds its old values where they were requested. */
export type CancellationReason = { readonly Code?: string; readonly Item?: Readonly<Record<string, unknown>> }

/**
 * An AWS service refused a request or failed. The fields are those of the SDK's errors: `name` is the service's name for the
 * error, and `$fault` tells whose fault it was.
 */
export class AwsServiceError extends Error {
  override readonly name: string
  readonly $fault: 'client' | 'server'
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId: string | undefined }
  /** One reason per item of a cancelled transaction, in their order. */
  readonly CancellationReasons: readonly CancellationReason[] | undefined
  /** The item that refused an update, in wire format, where its old values were requested. */
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
 * No whole response arrived: no connection, none in time, or one that broke. The service may have done its work.
 * Without `$fault` it counts as contention, like the SDK's network errors (`retry-on-contention.ts`).
 */
export class AwsConnectionError extends Error {
  override readonly name = 'AwsConnectionError'
  readonly $metadata = {}
}
