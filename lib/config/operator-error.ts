/** An error for the operator: its message says what is wrong, and what to do. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError'
}
