import { sessions } from '../../lib/streams/sessions.ts'
import { describeMoves } from '../support/worlds/suites.ts'

describeMoves('When the platform moves on meanwhile', [sessions])
