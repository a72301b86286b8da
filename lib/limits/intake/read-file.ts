import type { LimitRules } from '../entries.ts'
import { csvTable } from './csv-table.ts'
import { type LimitRows, limitRowsOf } from './rows.ts'
import { isWorkbook, workbookTable } from './workbook.ts'

/**
 * Reads a file with the columns `email` and `limit`, as spreadsheets and HR systems write it: a CSV or an Excel workbook.
 * What it begins with tells which, since names lie.
 * @throws RejectedError `bad_request` when the file as a whole can't be read: form, encoding, header.
 */
export async function readLimitsFile(bytes: Uint8Array, rules: Pick<LimitRules, 'maxLimit'>): Promise<LimitRows> {
  return limitRowsOf(isWorkbook(bytes) ? await workbookTable(bytes) : csvTable(bytes), rules)
}

/** The content type of a file with limits. */
export function contentTypeOf(bytes: Uint8Array): string {
  return isWorkbook(bytes) ? 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' : 'text/csv'
}
