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
