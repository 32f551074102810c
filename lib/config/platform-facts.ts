import type { ObjectPrefix } from '#routes/needs.ts'

/** Environment variables of a process or a test; unset ones are undefined. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The name of the CloudFormation stack of a stage: `Reelgate-dev` for `dev`. */
export function stackName(stage: string): string {
  return `Reelgate-${stage}`
}

/** The only region in which CloudFront finds web ACLs and has metrics. */
export const CLOUDFRONT_REGION = 'us-east-1'

/** The name of the stack of a stage's front door in us-east-1: `Reelgate-dev-front-door` for `dev`. */
export function frontDoorStackName(stage: string): string {
  return `${stackName(stage)}-front-door`
}

/**
 * The timeout of each function in seconds, on AWS and on the local host. Tasks of the state machine have ten seconds more, so
 * that the function ends first and reports why.
 */
export const FUNCTION_TIMEOUT_SECONDS = {
  /** The limit of API Gateway. */
  api: 29,
  /** The limit of API Gateway for a streamed response, and of Lambda. */
  relay: 900,
  /** Longer than the limit of a submit to an upstream, so that the outcome is recorded. */
  'submit-video-job': 40,
  /** All references in parallel, each with a few small requests, take up to four seconds. */
  'check-references': 10,
  /** Covers three requests at the limit of an upstream: state and cancel of a deleted job, and the poll. */
  'poll-video-job': 60,
  'store-video': 840,
  'settle-video-job': 30,
  'fail-video-job': 40,
  webhook: 30,
  /** Ends before the next minute's run is due. */
  reconcile: 55,
} as const

/** The function of each task of the state machine, by the name of its state. */
export const FUNCTION_OF_STATE = {
  Submit: 'submit-video-job',
  CheckReferences: 'check-references',
  Poll: 'poll-video-job',
  Store: 'store-video',
  Settle: 'settle-video-job',
  Fail: 'fail-video-job',
  Notify: 'webhook',
} as const satisfies Readonly<Record<string, keyof typeof FUNCTION_TIMEOUT_SECONDS>>

/** Name of a function of a video job: a step, or the callback. */
export type PipelineFunction = (typeof FUNCTION_OF_STATE)[keyof typeof FUNCTION_OF_STATE]

/** The names of the functions of a video job. */
export const PIPELINE_FUNCTIONS: readonly PipelineFunction[] = Object.values(FUNCTION_OF_STATE)

/** The folder below `lambdas/pipeline/` with the handler of a function of a video job. */
export function pipelineFolderOf(name: PipelineFunction): string {
  return name === 'webhook' ? 'notify' : name
}

/**
 * Days after which an object can be deleted regardless of the table: by lifecycle rules on AWS, by a sweep on the local host. A
 * job lives 7 days, and its video may be stored shortly before the end; its record is kept 30 days. Lifecycle rules count from
 * midnight.
 */
export const OBJECT_DAYS: Readonly<Record<ObjectPrefix, number>> = { 'v/': 9, 'requests/': 32, 'texts/': 32 }

/** Days after which the parts of an incomplete upload are deleted. */
export const ABANDONED_UPLOAD_DAYS = 1
