import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm'
import type { CustomDomain } from '../../config/stage-settings.ts'
import { type Finding, fine, wrong } from '../health/finding.ts'
import type { Place } from './account-checks.ts'

type CertificateOptions = Pick<Place, 'account'> & { readonly nowMilliseconds: number }

/** Whether the certificate of a name of one's own is issued, covers the name and lies in this account. */
export async function checkCertificate(
  { domainName, certificateArn }: CustomDomain,
  { account, nowMilliseconds }: CertificateOptions,
): Promise<Finding[]> {
  const [, , , region = '', owner] = certificateArn.split(':')
  if (owner !== account) {
    const found = `the certificate of ${domainName} is of account ${owner}, and the stack would be of ${account}`
    return [wrong('certificate', found, 'Issue or import one in the account of the stack.')]
  }
  const client = new ACMClient({ region })
  const { Certificate = {} } = await client.send(new DescribeCertificateCommand({ CertificateArn: certificateArn }))
  const { Status = 'unknown', SubjectAlternativeNames = [], NotAfter } = Certificate
  if (Status !== 'ISSUED') {
    const advice =
      'Make the DNS records that ACM asks for, and wait until it is issued; one that failed or ended is requested anew.'
    return [wrong('certificate', `the certificate of ${domainName} is ${Status}`, advice)]
  }
  if (!SubjectAlternativeNames.some((name) => covers(name, domainName))) {
    const found = `the certificate is for ${SubjectAlternativeNames.join(', ')}, not for ${domainName}`
    return [wrong('certificate', found, 'Name a certificate that covers it.')]
  }
  const hasEnded = NotAfter !== undefined && NotAfter.getTime() <= nowMilliseconds
  return [
    hasEnded
      ? wrong('certificate', `the certificate of ${domainName} has ended`, 'Renew it, or import another.')
      : fine('certificate', `the certificate of ${domainName} in ${region} is issued`),
  ]
}

/** A wildcard stands for one label. */
function covers(pattern: string, domainName: string): boolean {
  return pattern === domainName || (pattern.startsWith('*.') && domainName.replace(/^[^.]+/, '*') === pattern)
}
