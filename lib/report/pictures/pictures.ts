import { agentWaits } from './agent-waits.ts'
import { creditsByModel } from './credits-by-model.ts'
import { creditsByTag } from './credits-by-tag.ts'
import { creditsPerDay } from './credits-per-day.ts'
import { joinersAndLeavers } from './joiners-and-leavers.ts'
import { limitsEnding } from './limits-ending.ts'
import { limitsSum } from './limits-sum.ts'
import { lowestLimits } from './lowest-limits.ts'
import type { Picture } from './picture.ts'
import { readinessByCriterion } from './readiness-by-criterion.ts'
import { readinessByRepository } from './readiness-by-repository.ts'
import { readinessMoves } from './readiness-moves.ts'
import { readinessOverTime } from './readiness-over-time.ts'
import { sessionEnds } from './session-ends.ts'
import { sessionsByComputer } from './sessions-by-computer.ts'
import { sessionsPerDay } from './sessions-per-day.ts'
import { tokensByKind } from './tokens-by-kind.ts'

/** All pictures, in the order of the page. */
export const pictures: readonly Picture[] = [
  ...[sessionsPerDay, creditsPerDay, creditsByModel, creditsByTag, sessionsByComputer, tokensByKind],
  ...[readinessOverTime, readinessMoves, readinessByCriterion, readinessByRepository],
  ...[joinersAndLeavers, sessionEnds, agentWaits],
  ...[limitsSum, lowestLimits, limitsEnding],
]
