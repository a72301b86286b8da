import type { Command } from 'commander'
import { addAuditDiff, addAuditShow } from './audit-diff.ts'
import { addAuditExport } from './audit-export.ts'
import { addAuditReport } from './audit-report.ts'
import { addAuditRestoreHead } from './audit-restore.ts'
import { addAuditVerify } from './audit-verify.ts'
import type { Cli } from './command.ts'

/** `platform-sync audit ...` */
export function addAudit(program: Command, cli: Cli): void {
  const audit = program.command('audit').description('check, read and hand out the record of the enterprise settings')
  addAuditVerify(audit, cli)
  addAuditShow(audit, cli)
  addAuditDiff(audit, cli)
  addAuditReport(audit, cli)
  addAuditExport(audit, cli)
  addAuditRestoreHead(audit, cli)
}
