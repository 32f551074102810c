import { EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import type { CustomDomain } from '../config/stage-settings.ts'

/** Where clients reach the API by a name of the team's own. */
type ApiDomain = {
  /** With a slash at its end. */
  readonly baseUrl: string
  /** What the operator has to write into the zone of the name; Reelgate changes no zone itself. */
  readonly dnsRecord: string
}

/** Gives the API a name of the team's own, with TLS 1.2 at least. */
export function addApiDomain(restApi: RestApi, { domainName, certificateArn }: CustomDomain): ApiDomain {
  const domain = restApi.addDomainName('Domain', {
    domainName,
    certificate: Certificate.fromCertificateArn(restApi, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  })
  return { baseUrl: `https://${domainName}/`, dnsRecord: `${domainName} CNAME ${domain.domainNameAliasDomainName}` }
}
