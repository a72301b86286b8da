import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch'
import { callAws } from './aws-errors.ts'
import { type AwsTarget, clientSettings } from './clients.ts'

/** An alarm of an installation. `since` is Unix ms, null when nobody knows. */
export type Alarm = { name: string; isRed: boolean; since: number | null; description: string }

/** The alarms of an installation, by the name that begins theirs. */
export type AlarmReader = { all(): Promise<Alarm[]> }

/** A client for CloudWatch, which no emulator stands in for. */
export function createCloudWatch(target: AwsTarget): CloudWatchClient {
  return new CloudWatchClient(clientSettings(target))
}

/**
 * Reads alarms from CloudWatch. Those count that tell the installation's own topic: the names of another installation may
 * begin alike.
 */
export function createAlarmReader({ client, prefix }: { client: CloudWatchClient; prefix: string }): AlarmReader {
  return {
    all: () =>
      callAws({ what: `read the alarms of ${prefix}` }, async () => {
        const alarms: Alarm[] = []
        for await (const { MetricAlarms = [] } of paginateDescribeAlarms(
          { client },
          { AlarmNamePrefix: `${prefix}-` },
        )) {
          for (const alarm of MetricAlarms) {
            if (!alarm.AlarmActions?.some((topic) => topic.endsWith(`:${prefix}-alarms`))) continue
            alarms.push({
              name: (alarm.AlarmName ?? '').slice(prefix.length + 1),
              isRed: alarm.StateValue === 'ALARM',
              since: (alarm.StateTransitionedTimestamp ?? alarm.StateUpdatedTimestamp)?.getTime() ?? null,
              description: alarm.AlarmDescription ?? '',
            })
          }
        }
        return alarms
      }),
  }
}
