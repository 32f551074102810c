/** The name of the CloudFormation stack of a stage: `Reelgate-dev` for `dev`. */
export function stackName(stage: string): string {
  return `Reelgate-${stage}`
}

/** The only region in which CloudFront finds web ACLs. */
export const FRONT_DOOR_ACL_REGION = 'us-east-1'

/** The name of the stack with the web ACL of a stage's front door: `Reelgate-dev-front-door` for `dev`. */
export function frontDoorAclStackName(stage: string): string {
  return `${stackName(stage)}-front-door`
}
