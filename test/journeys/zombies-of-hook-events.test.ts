import { hookEvents } from '../../lib/streams/hook-events.ts'
import { collecting } from '../support/worlds/collecting.ts'
import { describeZombies } from '../support/worlds/suites.ts'

describeZombies('A worker of hook events that stalls past its time', [hookEvents], { story: collecting() })
