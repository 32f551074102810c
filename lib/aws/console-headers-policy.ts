import { Aws, Duration } from 'aws-cdk-lib'
import {
  HeadersReferrerPolicy,
  ResponseHeadersPolicy,
  type ResponseSecurityHeadersBehavior,
} from 'aws-cdk-lib/aws-cloudfront'
import type { Construct } from 'constructs'
import { consoleHeaders } from '../console/console-headers.ts'

/** Names of CloudFront are unique in an account across all regions, and have at most 64 characters. */
const ACCOUNT_WIDE_NAME = `${Aws.STACK_NAME}-console-${Aws.REGION}`

const override = true

/** The security headers that CloudFront accepts in no other form. */
const SECURITY_HEADERS: Readonly<Record<string, (value: string) => ResponseSecurityHeadersBehavior>> = {
  'content-security-policy': (contentSecurityPolicy) => ({
    contentSecurityPolicy: { contentSecurityPolicy, override },
  }),
  'referrer-policy': (value) => ({ referrerPolicy: { referrerPolicy: referrerPolicyOf(value), override } }),
  'x-content-type-options': () => ({ contentTypeOptions: { override } }),
  'strict-transport-security': (value) => ({
    strictTransportSecurity: {
      accessControlMaxAge: Duration.seconds(Number(/max-age=(\d+)/.exec(value)?.[1])),
      includeSubdomains: value.includes('includeSubDomains'),
      override,
    },
  }),
}

/** The headers of the console (`lib/console/console-headers.ts`) as a policy of CloudFront. */
export function createConsoleHeadersPolicy(scope: Construct): ResponseHeadersPolicy {
  const headers = Object.entries(consoleHeaders({ isTls: true }))
  const security = headers.flatMap(([name, value]) => SECURITY_HEADERS[name]?.(value) ?? [])
  const others = headers.filter(([name]) => SECURITY_HEADERS[name] === undefined)
  return new ResponseHeadersPolicy(scope, 'Headers', {
    responseHeadersPolicyName: ACCOUNT_WIDE_NAME,
    securityHeadersBehavior: Object.assign({}, ...security),
    customHeadersBehavior: { customHeaders: others.map(([header, value]) => ({ header, value, override })) },
  })
}

function referrerPolicyOf(value: string): HeadersReferrerPolicy {
  const found = Object.values(HeadersReferrerPolicy).find((each) => each === value)
  if (found === undefined) {
    throw new TypeError(`CloudFront knows no referrer policy ${value}`)
  }
  return found
}
