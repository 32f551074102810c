import { EndpointAccessMode, EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import type { CustomDomain } from '../config/stage-settings.ts'

/** The custom domain of the API. */
type ApiDomain = {
  /** With a final slash. */
  readonly baseUrl: string
  /** The record that the operator adds to the DNS zone; Reelgate does not change zones. */
  readonly dnsRecord: string
}

/**
 * TLS 1.2 or later, with forward secrecy, at every address of the API: a regional REST API accepts TLS 1.0 by default. Strict refuses a
 * request whose `Host` is not the name of its handshake. CloudFront sends the same name as both.
 */
export const TRANSPORT_SECURITY = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
} as const

/** Adds a custom domain to the API. */
export function addApiDomain(restApi: RestApi, { domainName, certificateArn }: CustomDomain): ApiDomain {
  const domain = restApi.addDomainName('Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(restApi, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    ...TRANSPORT_SECURITY,
  })
  return { baseUrl: `https://${domainName}/`, dnsRecord: `${domainName} CNAME ${domain.domainNameAliasDomainName}` }
}
