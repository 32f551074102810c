/** What an operator looks at first, by the status of a response that a healthy deployment does not give. */
const BY_STATUS: Readonly<Record<number, string>> = {
  400: 'the model takes no plain text request: choose another --model or --chat-model',
  401: 'the key is not one of this deployment, or it is revoked: npm run admin -- key list',
  402: 'the tenant has too few credits: npm run admin -- tenant grant',
  403: 'something in front of the gateway refused: the address, a web ACL, or a url that has ended',
  404: 'the --base-url has to be the BaseUrl of the stack, with its stage, and the key has to include the model',
  429: 'a limit of this key, of the tenant, or of every upstream of the model: wait and try again',
  502: 'the upstream failed, or a function did: the log line of this request has the reason',
  503: 'no channel serves the model: the channel secret, the base url of the channel, and its log lines',
  504: 'the upstream, or the gateway without response streaming, took too long',
}

const OTHERWISE = 'the logs of the function that answered, by the x-request-id above'

/** What to look at after a response of this HTTP status: a phrase that completes "look at: ". */
export function whereToLook(status: number): string {
  return BY_STATUS[status] ?? OTHERWISE
}
