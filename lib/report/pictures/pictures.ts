import type { Picture } from './picture.ts'
import { sessionsPerDay } from './sessions-per-day.ts'

/** All pictures, in the order of the page. */
export const pictures: readonly Picture[] = [sessionsPerDay]
