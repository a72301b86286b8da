import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { ownTurns } from '../support/worlds/audit-calls.ts'
import { describeZombies } from '../support/worlds/suites.ts'

describeZombies(
  'A worker of the settings and their audit trail that stalls past its lease',
  [enterpriseControlRevisions],
  { callsOf: ownTurns },
)
