import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm'
import type { CustomDomain } from '../../config/stage-settings.ts'
import { type Finding, fine, wrong } from '../health/finding.ts'
import type { Place } from './account-checks.ts'

type CertificateOptions = Pick<Place, 'account'> & { readonly nowMilliseconds: number }

/** Whether the certificate of a custom name is issued, covers the name and belongs to this account. */
export async function checkCertificate(
  { domainName, certificateArn }: CustomDomain,
  { account, nowMilliseconds }: CertificateOptions,
): Promise<Finding[]> {
  const [, , , region = '', owner] = certificateArn.split(':')
  if (owner !== account) {
    const found = `the certificate of ${domainName} belongs to account ${owner}, and the stack to ${account}`
    return [wrong('certificate', found, 'Issue or import one in the account of the stack.')]
  }
  const client = new ACMClient({ region })
  const { Certificate = {} } = await client.send(new DescribeCertificateCommand({ CertificateArn: certificateArn }))
  const { Status = 'unknown', SubjectAlternativeNames = [], NotAfter } = Certificate
  if (Status !== 'ISSUED') {
    const advice =
      'Create the DNS records that ACM asks for, and wait until it is issued; request a new one if it failed or expired.'
    return [wrong('certificate', `the certificate of ${domainName} is ${Status}`, advice)]
  }
  if (!SubjectAlternativeNames.some((name) => covers(name, domainName))) {
    const found = `the certificate is for ${SubjectAlternativeNames.join(', ')}, not for ${domainName}`
    return [wrong('certificate', found, 'Use a certificate that covers the name.')]
  }
  const hasEnded = NotAfter !== undefined && NotAfter.getTime() <= nowMilliseconds
  return [
    hasEnded
      ? wrong('certificate', `the certificate of ${domainName} has expired`, 'Renew it, or import another.')
      : fine('certificate', `the certificate of ${domainName} in ${region} is issued`),
  ]
}

/** A wildcard matches one label. */
function covers(pattern: string, domainName: string): boolean {
  return pattern === domainName || (pattern.startsWith('*.') && domainName.replace(/^[^.]+/, '*') === pattern)
}
