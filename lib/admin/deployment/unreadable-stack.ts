import { CommandFailedError, DeploymentNotFoundError } from '../command-line/command-failed-error.ts'
import { explainAwsAccess } from './aws-access.ts'

/**
 * Of a stack that CloudFormation did not tell about: the reason, and what to do. Whether the stack is there, nobody knows
 * where AWS cannot be asked at all; then the reason is that alone.
 * @param subject what was asked for, as the sentence begins: `the stack Reelgate-dev`.
 * @param cause what the client threw.
 */
export function unreadableStack(subject: string, cause: unknown): CommandFailedError {
  const noAccess = explainAwsAccess(cause)
  if (noAccess !== undefined) {
    return new CommandFailedError(noAccess, { cause })
  }
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new DeploymentNotFoundError(
    `${subject} cannot be read (${reason}): deploy it, choose another --stage, or add --local`,
    { cause },
  )
}
