import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { describeCrashes } from '../support/worlds/suites.ts'

describeCrashes('A sync of the settings, with its audit trail', [enterpriseControlRevisions])
