import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { describeCrashesOfRecording } from '../support/worlds/suites.ts'

describeCrashesOfRecording('A sync of the settings, with its audit trail', [enterpriseControlRevisions])
