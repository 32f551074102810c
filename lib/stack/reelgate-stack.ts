import { Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { Service, type ServiceProps } from './service.ts'

export type ReelgateStackProps = StackProps & ServiceProps

/** The stack of a stage, as `cdk deploy` makes it from a checkout. */
export class ReelgateStack extends Stack {
  constructor(scope: Construct, id: string, props: ReelgateStackProps) {
    super(scope, id, {
      description: 'Reelgate: HTTP/JSON gateway in front of AI video providers',
      ...props,
    })
    new Service(this, 'Default', props)
  }
}
