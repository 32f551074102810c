import { join } from 'node:path'
import type { AllowedOrigins } from '#core/api/cross-origin.ts'
import type { OidcSettings } from '#core/catalogue/gateway-config.ts'
import { LOCAL_STATE_MACHINE_ARN } from './aws-front.ts'
import type { CdnKey } from './cdn-key.ts'

const OPENAPI_FILE = join(import.meta.dirname, '..', '..', 'openapi.json')

/** The addresses and files of a started host that its functions need. */
export type HostEnvironment = {
  readonly tableName: string
  readonly bucketName: string
  readonly dynamoDb: string
  readonly s3: string
  readonly aws: string
  readonly cdnKey: CdnKey
  readonly configFile: string
  readonly ranksFile: string
  /** Origins whose scripts may call the API. */
  readonly corsOrigins: AllowedOrigins
  /** The OpenID provider of the console; undefined without one. */
  readonly oidc: OidcSettings | undefined
}

/** The environment that the stack gives its functions, with the addresses of the local engines. */
export function setEnvironment({
  tableName,
  bucketName,
  dynamoDb,
  s3,
  aws,
  cdnKey,
  configFile,
  ranksFile,
  corsOrigins,
  oidc,
}: HostEnvironment): void {
  Object.assign(process.env, {
    AWS_REGION: process.env.AWS_REGION ?? 'us-east-1',
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb,
    AWS_ENDPOINT_URL_S3: s3,
    AWS_ENDPOINT_URL_SFN: aws,
    TABLE_NAME: tableName,
    BUCKET_NAME: bucketName,
    STATE_MACHINE_ARN: LOCAL_STATE_MACHINE_ARN,
    CDN_KEY_PAIR_ID: cdnKey.keyPairId,
    CDN_SIGNING_KEY: cdnKey.privateKeyPem,
    GATEWAY_CONFIG_FILE: configFile,
    TOKENIZER_RANKS_FILE: ranksFile,
    OPENAPI_FILE,
    CORS_ORIGINS: corsOrigins.join(' '),
    // Pages of this machine, whatever name and port they call it by.
    CONSOLE_ORIGIN: 'loopback',
    // One process reads and writes, so its pages need not be a minute old.
    CONSOLE_SUMMARY: 'live',
    CONSOLE_OIDC: oidc === undefined ? '' : JSON.stringify(oidc),
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'WARN',
    POWERTOOLS_METRICS_DISABLED: process.env.POWERTOOLS_METRICS_DISABLED ?? 'true',
  })
}
