/** A command that cannot do what it was asked to: one sentence that says why and what to do. Exit code 1. */
export class CommandFailedError extends Error {
  override readonly name: string = 'CommandFailedError'
}

/** No such stage is deployed, no local host runs, or it lacks what the command needs. */
export class DeploymentNotFoundError extends CommandFailedError {
  override readonly name = 'DeploymentNotFoundError'
}

/** The person who was asked did not say yes; nothing was changed. */
export class NotConfirmedError extends CommandFailedError {
  override readonly name = 'NotConfirmedError'
}
