import { RemovalPolicy, SecretValue } from 'aws-cdk-lib'
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'
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

/** Lets a function read the value of a secret. */
export function grantSecret(grantee: IGrantable, secretArn: string): void {
  Grant.addToPrincipal({ grantee, actions: ['secretsmanager:GetSecretValue'], resourceArns: [secretArn] })
}

/** More than enough letters and digits to never be guessed. */
const SECRET_CHARACTERS = 64

type FrontDoorSecretProps = {
  /** The version to deploy; undefined for the current one. A new id makes CloudFormation read the secret again. */
  readonly version: string | undefined
}

/**
 * The secret by which the front door proves itself to the API: JSON with `current`, and after a rotation `previous`. CloudFormation
 * generates the first value and fills in values itself, so the template shows none.
 */
export class FrontDoorSecret extends Construct {
  readonly secretArn: string
  /** The value that the front door sends. */
  readonly sent: string
  /** Values that prove the front door, at least the sent one. */
  readonly accepted: readonly string[]

  constructor(scope: Construct, id: string, { version }: FrontDoorSecretProps) {
    super(scope, id)
    const secret = new Secret(this, 'Secret', {
      description: 'Reelgate: proves the front door to the API',
      generateSecretString: {
        secretStringTemplate: '{}',
        generateStringKey: 'current',
        passwordLength: SECRET_CHARACTERS,
        excludePunctuation: true,
      },
      // The front door is deleted with the stack too.
      removalPolicy: RemovalPolicy.DESTROY,
    })
    acknowledge(secret, 'A rotation changes the distribution too, which only a deployment does.', 'SMG4')
    const referenceTo = (jsonField: string) =>
      SecretValue.secretsManager(secret.secretArn, {
        jsonField,
        ...(version === undefined ? {} : { versionId: version }),
      }).unsafeUnwrap()
    this.secretArn = secret.secretArn
    this.sent = referenceTo('current')
    this.accepted = version === undefined ? [this.sent] : [this.sent, referenceTo('previous')]
  }
}
