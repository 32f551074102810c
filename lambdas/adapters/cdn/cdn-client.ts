/** What the gateway takes of the CDN's client, named so that a bundle keeps nothing else of it. */
export { CloudFrontClient, CreateInvalidationCommand } from '@aws-sdk/client-cloudfront'
