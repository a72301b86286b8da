import { Duration, Validations } from 'aws-cdk-lib'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { type CfnQueue, Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { hookDeadLetters, hookQueue, hookReceives, hookVisibilitySeconds } from '../../lib/stores/hook-queue.ts'
import { limitsDeadLetters, limitsQueue, maxReceives, visibilitySeconds } from '../../lib/stores/limits-queue.ts'
import type { Names } from '../names.ts'
import { kept } from '../removal.ts'

/** As long as SQS keeps anything: what nobody looked at for two weeks is lost, and an alarm has been raised all the time. */
const retentionPeriod = Duration.days(14)

/** The queues: intents of credit limits and hook events, those that failed, and starts of runs that could not be delivered. */
export class Queues extends Construct {
  /** Addresses, by the variables of the environment that hold them. */
  readonly addresses: Record<string, string>

  constructor(scope: Construct, id: string, { names, key }: { names: Names; key: IKey }) {
    super(scope, id)
    const create = (logicalId: string, queueName: string, more: QueueProps = {}) => {
      const queue = new Queue(this, logicalId, {
        queueName,
        encryption: QueueEncryption.KMS,
        encryptionMasterKey: key,
        enforceSSL: true,
        retentionPeriod,
        removalPolicy: kept,
        ...more,
      })
      ;(queue.node.defaultChild as CfnQueue).overrideLogicalId(logicalId)
      if (!more.deadLetterQueue) {
        Validations.of(queue).acknowledge({ id: 'AwsSolutions-SQS3', reason: 'It is a dead-letter queue.' })
      }
      return queue
    }
    create('StartDeadLetterQueue', names.startDeadLetters)
    const deadLetters = create('LimitsDeadLetterQueue', names.queue(limitsDeadLetters), { fifo: true })
    const limits = create('LimitsQueue', names.queue(limitsQueue), {
      fifo: true,
      // FIFO queues gather no batches over time, so that no window is added to it.
      visibilityTimeout: Duration.seconds(visibilitySeconds),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: maxReceives },
    })
    const deadHooks = create('HookEventsDeadLetterQueue', names.queue(hookDeadLetters))
    const hooks = create('HookEventsQueue', names.queue(hookQueue), {
      visibilityTimeout: Duration.seconds(hookVisibilitySeconds),
      deadLetterQueue: { queue: deadHooks, maxReceiveCount: hookReceives },
    })
    this.addresses = {
      [hookQueue.variable]: hooks.queueUrl,
      [hookDeadLetters.variable]: deadHooks.queueUrl,
      [limitsQueue.variable]: limits.queueUrl,
      [limitsDeadLetters.variable]: deadLetters.queueUrl,
    }
  }
}
