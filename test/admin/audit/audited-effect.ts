import type { AuditEntry } from '#store/audit/read-audit.ts'
import type { AuditedStage, Options } from './audited-stage.ts'

/** One command line with an effect. */
export type AuditedEffect = {
  readonly command: string
  /** Makes what the command changes, if anything, and returns the options. */
  readonly options: (stage: AuditedStage) => Options | Promise<Options>
  /** Options that the command refuses, in place of the same ones above. */
  readonly refused: Options
  /** The action of the entry; that of the command if left out. */
  readonly action?: string
  /** What the entry says. */
  readonly entry: Pick<AuditEntry, 'kind' | 'before' | 'after'>
  /** What the same command line does a second time. */
  readonly repeat: 'nothing' | 'another entry'
  /** `after`: somebody else may refuse the change, or its size is known only then (docs/decisions/0136). */
  readonly isRecorded?: 'after'
}

/** Options that need nothing. */
export const given = (options: Options) => () => options
/** Options with the tenant of the stage. */
export const ofTenant =
  (options: Options = {}) =>
  ({ tenant: { tenantId } }: AuditedStage): Options => ({ tenant: tenantId, ...options })
/** Options with its key. */
export const ofKey =
  (options: Options = {}) =>
  ({ tenant: { keyDigest } }: AuditedStage): Options => ({ key: keyDigest.slice(0, 8), ...options })
/** The options of a command that ends what another one began. */
export const afterRun = (began: string, options: (stage: AuditedStage) => Options) => async (stage: AuditedStage) => {
  await stage.run(began, options(stage))
  return options(stage)
}
