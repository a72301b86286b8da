import { sessions } from '../../lib/streams/sessions.ts'
import { describeCrashes } from '../support/worlds/suites.ts'

describeCrashes('A sync of sessions', [sessions])
