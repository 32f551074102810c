import { CommandFailedError, DeploymentNotFoundError } from '../command-line/command-failed-error.ts'
import { explainAwsAccess } from './aws-access.ts'

/**
 * Says why a stack could not be read, and what to do. Without access to AWS, it is unknown whether the stack exists, so the reason is the
 * access alone.
 * @param subject the beginning of the sentence, such as `the stack Reelgate-dev`.
 * @param cause the error of the client.
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
