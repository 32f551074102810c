/** The version that is deployed: of the package, of the OpenAPI document, and what the health check answers. A test holds it to package.json. */
export const VERSION = '0.2.0'
