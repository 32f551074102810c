/** Ids are tokens: they become a header of the calls to upstreams and receivers, and a member of log lines. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** Whether a text can be an id of a request. API Gateway lets clients choose theirs, and upstreams send what they like. */
export function isRequestId(text: unknown): text is string {
  return typeof text === 'string' && REQUEST_ID.test(text)
}
