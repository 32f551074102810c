import { RemovalPolicy } from 'aws-cdk-lib'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { acknowledge } from './acknowledge.ts'

/**
 * The upstreams' keys: a JSON object whose fields are the names that `api_key: ${NAME}` uses.
 * Deployed empty and filled by the operator; later deployments leave its value alone.
 */
export class ChannelSecret extends Construct {
  readonly secret: Secret

  constructor(scope: Construct, id: string, { outlivesStack }: { readonly outlivesStack: boolean }) {
    super(scope, id)
    this.secret = new Secret(this, 'Secret', {
      description: 'Reelgate: keys of the upstream channels',
      secretObjectValue: {},
      removalPolicy: outlivesStack ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    })
    acknowledge(this, 'The upstreams issue these keys; only their consoles can rotate them.', 'SMG4')
  }
}
