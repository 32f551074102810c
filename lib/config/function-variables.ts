/**
 * The environment variables of functions, by what each is: Markdown for docs/configuration.md. The stack sets those that a function
 * needs, the local host sets all that it has a value for.
 */
export const FUNCTION_VARIABLES = {
  TABLE_NAME: 'the table',
  BUCKET_NAME: 'the bucket of the videos, and of the console for the function that writes its files',
  STATE_MACHINE_ARN: 'the state machine of video jobs',
  CHANNEL_SECRET_ARN: 'JSON secret with the upstream keys; unset: the environment has them',
  CDN_BASE_URL: 'the base of video urls',
  CDN_SIGNING_KEY_SECRET_ARN: 'JSON secret with the keys that sign video urls',
  CDN_KEY_PAIR_ID: 'locally, the id of the one key that signs video urls',
  CDN_SIGNING_KEY: 'locally, the private key itself',
  CDN_KEY_GROUP_NAME: 'name of the key group, for the function that owns the signing keys',
  VIDEO_DELIVERY:
    '`bucket` with [`cdn=off`](deploy.md#without-cloudfront) and on an [emulator](testing.md): presigned urls of the bucket, no CDN; unset: `cdn`',
  GATEWAY_CONFIG_FILE: 'the validated configuration; unset: `gateway.json` beside the code',
  TOKENIZER_RANKS_FILE: 'the vocabulary for counting embedding inputs; unset: `cl100k_base.json` beside the code',
  OPENAPI_FILE: 'the OpenAPI document; unset: `openapi.json` beside the code',
  IDENTITY_FILE: 'issuers of tokens and their rules; unset: callers need an API key',
  CORS_ORIGINS: 'origins whose scripts may call the API, separated by spaces',
  FRONT_DOOR_SECRET_ARN: 'JSON secret by which the front door proves itself',
  CONSOLE_ORIGIN: 'the origin of the console; `loopback` locally',
  CONSOLE_OIDC: 'the OpenID provider of the console, as JSON',
  CONSOLE_SUMMARY:
    '`stored`: Reconcile writes the summary of all tenants; `live`: each page reads all tenants, as locally',
  ALERT_TOPIC_ARN: 'the topic of alerts about budgets and balances',
  POWERTOOLS_SERVICE_NAME: '`reelgate`',
  POWERTOOLS_METRICS_NAMESPACE: '`Reelgate-<stage>`',
  POWERTOOLS_METRICS_DISABLED: '`true` locally',
  LOG_LEVEL: '`INFO`; `WARN` for `npm run demo`',
  NODE_OPTIONS: "bounds the memory of a Web Function's process",
} as const

/** Variables of a function: its own, and endpoints of single services on an emulator of AWS. */
export type FunctionEnvironment = Readonly<
  Partial<Record<keyof typeof FUNCTION_VARIABLES | `AWS_ENDPOINT_URL_${string}`, string>>
>
