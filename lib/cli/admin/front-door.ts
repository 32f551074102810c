import { randomBytes } from 'node:crypto'
import type { AuditAction } from '#store/audit/audit-entry.ts'
import { CommandFailedError, OutputNotFoundError } from '../failures.ts'
import type { Output } from '../output.ts'
import { recordEffect } from './audit.ts'
import type { AdminContext, Command } from './command.ts'
import { changeSecretEntries, type NamedSecret, type SecretEntries } from './secrets.ts'

/**
 * The secret of the front door: `current` and `previous` prove it, and `oidc_client_secret` proves the console to an OpenID provider.
 * @throws CommandFailedError with this sentence for a local host, and for a stage without a front door.
 */
export async function frontDoorSecret(
  { local, output, stage }: Pick<AdminContext, 'local' | 'output' | 'stage'>,
  onLocalHost = 'a local host has no front door: its console and API have one address',
): Promise<NamedSecret> {
  if (local) {
    throw new CommandFailedError(onLocalHost)
  }
  try {
    return { arn: await output('FrontDoorSecretArn'), name: 'secret of the front door' }
  } catch (error) {
    throw error instanceof OutputNotFoundError
      ? new CommandFailedError(`the stage ${stage} has no front door: it was deployed with console=off`)
      : error
  }
}

/** As many random bits as the first value, which CloudFormation generates. */
const SECRET_BYTES = 48

/** Entry of the secret that says whether a rotation waits for its end. */
const ROTATION = 'rotation'

/** Begins a rotation: both values are accepted from now on. @throws CommandFailedError. */
export const frontDoorRotate: Command = {
  name: 'front-door rotate',
  summary: "give the front door's secret a new value; the old one stays accepted until `front-door finish`",
  details: `Prints the version to deploy: the front door sends the new value after that deployment. Nothing is interrupted.`,
  examples: ['front-door rotate --stage prod'],
  run: (context) =>
    change(context, 'front-door rotate', ({ current, ...entries }) => {
      if (!current) {
        throw new CommandFailedError('the secret of the front door is not a JSON object with the entry current')
      }
      if (entries[ROTATION] === 'open') {
        throw new CommandFailedError(
          'the last rotation is not finished: deploy its version, then run front-door finish, or the front door would be refused',
        )
      }
      return { ...entries, current: newValue(), previous: current, [ROTATION]: 'open' }
    }),
}

/** Ends a rotation: the old value is refused. @throws CommandFailedError without a rotation. */
export const frontDoorFinish: Command = {
  name: 'front-door finish',
  summary: "end a rotation of the front door's secret: the old value is refused",
  details: `Only after the deployment of the new version, and five minutes more for CloudFront. The functions refuse the old value within
minutes, and the web ACL after a deployment of the printed version.`,
  examples: ['front-door finish --stage prod'],
  async run(context) {
    await context.confirm(
      `The old secret of the front door of ${context.stage} will be refused; has the new version been deployed for five minutes?`,
    )
    return await change(context, 'front-door finish', (entries) => {
      if (entries[ROTATION] !== 'open') {
        throw new CommandFailedError('no rotation has begun: run front-door rotate first')
      }
      // A value that nothing sends, because the web ACL names both entries.
      return { ...entries, previous: newValue(), [ROTATION]: 'finished' }
    })
  },
}

/** Puts the changed entries into the secret, and tells the version to deploy; no value is shown. */
async function change(
  context: AdminContext,
  action: AuditAction,
  changed: (entries: SecretEntries) => SecretEntries,
): Promise<Output> {
  const { versionId } = await changeSecretEntries(await frontDoorSecret(context), changed)
  const state = action === 'front-door rotate' ? 'rotated' : 'finished'
  await recordEffect(context, { action, target: { kind: 'secret', id: 'front-door' }, before: null, after: { state } })
  return {
    json: { state, version: versionId },
    text: `${state}; now deploy with -c frontDoorSecretVersion=${versionId}, best kept in the context of cdk.json`,
  }
}

function newValue(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}
