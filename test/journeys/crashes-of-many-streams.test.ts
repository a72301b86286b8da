import { computers } from '../../lib/streams/computers.ts'
import { readinessReports } from '../../lib/streams/readiness-reports.ts'
import { describeCrashesOfMany } from '../support/worlds/suites.ts'

describeCrashesOfMany('A sync of readiness reports and computers', [readinessReports, computers])
