/** A command that cannot do what it was asked to: one sentence that says why and what to do. Exit code 1. */
export class CommandFailedError extends Error {
  override readonly name: string = 'CommandFailedError'
}

/** No such stage is deployed, no local host runs, or it lacks what the command needs. */
export class DeploymentNotFoundError extends CommandFailedError {
  override readonly name = 'DeploymentNotFoundError'
}

/** The stage or the local host is there and has no output of this name: not every one has each. Told like its parent, whose name it keeps. */
export class OutputNotFoundError extends DeploymentNotFoundError {}

/** The person who was asked did not say yes; nothing was changed. */
export class NotConfirmedError extends CommandFailedError {
  override readonly name = 'NotConfirmedError'
}
