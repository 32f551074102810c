import { Stack } from 'aws-cdk-lib'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { ServiceLogGroup } from './service-log-group.ts'

/**
 * What a line says of a request, in CloudFront's names (Developer Guide, "Standard logging"). The query has the signature of a video's url and
 * the code of a sign-in, a cookie is a session, and a referer may repeat a query: none of them is here, nor any other header.
 */
const FIELDS = [
  'date',
  'time',
  'x-edge-request-id',
  'x-edge-location',
  'c-ip',
  'cs-method',
  'x-host-header',
  'cs-uri-stem',
  'sc-status',
  'sc-bytes',
  'cs-bytes',
  'time-taken',
  'time-to-first-byte',
  'x-edge-detailed-result-type',
  'cs-protocol-version',
  'ssl-protocol',
]

/** Logs the requests of a distribution as JSON lines in a log group. For a stack in us-east-1: CloudFront delivers from there alone. */
export function logFrontDoor(scope: Construct, distributionId: string): void {
  const name = `reelgate-${distributionId}`
  const source = new CfnDeliverySource(scope, 'LogSource', {
    name,
    logType: 'ACCESS_LOGS',
    resourceArn: Stack.of(scope).formatArn({
      service: 'cloudfront',
      region: '',
      resource: 'distribution',
      resourceName: distributionId,
    }),
  })
  const destination = new CfnDeliveryDestination(scope, 'LogDestination', {
    name,
    destinationResourceArn: new ServiceLogGroup(scope, 'Log').logGroupArn,
    outputFormat: 'json',
  })
  new CfnDelivery(scope, 'LogDelivery', {
    deliverySourceName: source.ref,
    deliveryDestinationArn: destination.attrArn,
    recordFields: FIELDS,
  })
}
