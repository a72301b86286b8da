import { sessions } from '../../lib/streams/sessions.ts'
import { describeZombies } from '../support/worlds/suites.ts'

describeZombies('A worker of sessions that stalls past its lease', [sessions])
