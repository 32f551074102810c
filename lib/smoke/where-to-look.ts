/** Where to look first, by the status of an unexpected response. */
const BY_STATUS: Readonly<Record<number, string>> = {
  400: 'the model does not accept plain text: choose another --model or --chat-model',
  401: 'the key is revoked or belongs to another deployment: npm run admin -- key list',
  402: 'the tenant has too few credits: npm run admin -- tenant grant',
  403: 'something in front of the gateway refused the request: the address, a web ACL, or an expired url',
  404: '--base-url must be the BaseUrl of the stack, with its stage, or the origin of its ConsoleUrl, and the key must include the model',
  429: 'a limit of this key, of the tenant, or of every upstream of the model: wait and try again',
  502: 'the upstream or a function failed: the log line of this request has the reason',
  503: 'no channel serves the model: the channel secret, the base url of the channel, and its log lines',
  504: 'the upstream, or the gateway without response streaming, took too long',
}

const OTHERWISE = 'the logs of the function, by the x-request-id above'

/** Where to look after a response with this status: a phrase that completes "look at: ". */
export function whereToLook(status: number): string {
  return BY_STATUS[status] ?? OTHERWISE
}
