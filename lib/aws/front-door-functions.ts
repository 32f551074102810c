import { VIEWER_ADDRESS_HEADER } from '#core/http.ts'

/** Path of the page that shows every view of the console. */
const PAGE = '/console/index.html'

/**
 * Code of the CloudFront Function in front of the console: paths below `/console/assets/` and the named files stay, and every other path
 * shows the page, which reads the view from its address.
 * @param files paths of the files beside the page, such as `/console/icon.svg`.
 */
export function consolePathCode(files: readonly string[]): string {
  return [
    `var files = ${JSON.stringify(files)}`,
    'function handler(event) {',
    '  var request = event.request',
    "  if (request.uri.indexOf('/console/assets/') !== 0 && files.indexOf(request.uri) === -1) {",
    `    request.uri = '${PAGE}'`,
    '  }',
    '  return request',
    '}',
  ].join('\n')
}

/**
 * Code of the CloudFront Function in front of the API: tells the API the address of the viewer, whatever the viewer itself says, because the
 * API sees an address of CloudFront.
 */
export const VIEWER_ADDRESS_CODE = [
  'function handler(event) {',
  '  var request = event.request',
  `  request.headers['${VIEWER_ADDRESS_HEADER}'] = { value: event.viewer.ip }`,
  '  return request',
  '}',
].join('\n')
