import { EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import type { CustomDomain } from '../config/stage-settings.ts'

/** The custom domain of the API. */
type ApiDomain = {
  /** With a final slash. */
  readonly baseUrl: string
  /** The record that the operator adds to the DNS zone; Reelgate does not change zones. */
  readonly dnsRecord: string
}

/** Adds a custom domain to the API, with TLS 1.2 or later. */
export function addApiDomain(restApi: RestApi, { domainName, certificateArn }: CustomDomain): ApiDomain {
  const domain = restApi.addDomainName('Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(restApi, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  })
  return { baseUrl: `https://${domainName}/`, dnsRecord: `${domainName} CNAME ${domain.domainNameAliasDomainName}` }
}
