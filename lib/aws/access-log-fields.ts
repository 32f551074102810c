/** One line per request, with the template of the route, and without the query, the headers or error messages. */
export const ACCESS_LOG_FIELDS = {
  requestId: '$context.requestId',
  // Clients can choose `requestId`, but not this one.
  extendedRequestId: '$context.extendedRequestId',
  time: '$context.requestTime',
  sourceIp: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  responseType: '$context.error.responseType',
  responseBytes: '$context.responseLength',
  latencyMilliseconds: '$context.responseLatency',
  integrationStatus: '$context.integration.status',
  functionRequestId: '$context.integration.requestId',
  integrationLatencyMilliseconds: '$context.integration.latency',
  responseTransferMode: '$context.integration.responseTransferMode',
  timeToAllHeadersMilliseconds: '$context.integration.timeToAllHeaders',
  timeToFirstContentMilliseconds: '$context.integration.timeToFirstContent',
  traceId: '$context.xrayTraceId',
}
