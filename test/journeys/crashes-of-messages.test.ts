import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { shardsOf } from '../../lib/streams/shards.ts'
import { describeCrashesOfMany } from '../support/worlds/suites.ts'

// One shard has all there is: what happens to a shard happens to it alone.
describeCrashesOfMany('A sync of sessions and their messages', [sessions, ...shardsOf(sessionMessages, 1)])
