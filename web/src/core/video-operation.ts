/** Whether an operation of a ledger row makes video jobs, so that its id names one. */
export function isVideoOperation(operation: string | null | undefined): boolean {
  return operation?.includes('video') ?? false
}
