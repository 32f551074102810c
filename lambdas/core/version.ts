/** The version of the package, of the OpenAPI document and in the health check; a test compares it with package.json. */
export const VERSION = '0.3.0'
