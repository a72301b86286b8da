import { hookEvents } from '../../lib/streams/hook-events.ts'
import { collecting } from '../support/worlds/collecting.ts'
import { describeCrashes } from '../support/worlds/suites.ts'

describeCrashes('Hook events on their way from a machine to the lake', [hookEvents], collecting())
