import { describe, expect, it } from 'vitest'
import { streamNamed } from '../../lib/streams/index.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import type { Table } from '../../lib/streams/table.ts'
import { fixtureOf, rowsOf } from './fixtures.ts'

function rows(stream: Stream, table: string) {
  return rowsOf((stream.tables as readonly Table[]).find(({ name }) => name === table)!, fixtureOf(stream))
}

describe('the warehouse tables', () => {
  it('hold settings and token usage of a session flat, with and without its child sessions', () => {
    const [session] = rows(streamNamed('sessions'), 'sessions')
    expect(session).toMatchObject({
      session_id: 'ses_01',
      created_at: 1748411762359,
      model: 'atlas-large',
      provider_lock_timestamp: 1748411762359,
      archived_at: Date.UTC(2025, 4, 31, 22),
      assistant_active_time_ms: 183250.5,
      token_usage_platform_credits: 421.75,
      inclusive_token_usage_platform_credits: 520.25,
      token_usage_input_tokens: 120034,
      inclusive_token_usage_input_tokens: 150034,
      enabled_tool_ids: '["read","edit"]',
    })
  })

  it('hold a row per tag, in the order of the list', () => {
    expect(rows(streamNamed('sessions'), 'session_tags')).toEqual([
      { session_id: 'ses_01', position: 0, name: 'team', metadata: '{"value":"core","Team":"a","team":"b"}' },
      { session_id: 'ses_01', position: 1, name: 'sprint-7', metadata: null },
    ])
  })

  it('hold what a pass rate over time needs in each row of a criterion', () => {
    const criteria = rows(streamNamed('readiness_reports'), 'readiness_criteria')
    expect(criteria).toHaveLength(4)
    expect(criteria[1]).toEqual({
      report_id: '0f8c6a52-5a37-4c1e-9b0d-2f4f5e1c7a01',
      criterion_id: 'linter_configured',
      numerator: 1,
      denominator: 2,
      rationale: 'apps/api has no linter.',
      created_at: 1748411762359,
      repo_url: 'https://git.example.com/acme/shop',
    })
    expect(rows(streamNamed('readiness_reports'), 'readiness_apps').map((row) => row.app_path)).toEqual([
      'apps/web',
      'apps/api',
      '.',
    ])
  })

  it('hold a row per provisioning step, with its computer', () => {
    expect(rows(streamNamed('computers'), 'computer_provisioning_steps')[0]).toEqual({
      computer_id: 'cmp_01',
      position: 0,
      step_id: 'install',
      name: 'Install the agent',
      status: 'failed',
      error: 'disk is full',
      install_session_id: 'ins_01',
      started_at: 1740000001000,
      completed_at: 1740000002000,
    })
  })

  it('hold a row per limit that changed, with who answers for it, and none for an entry that changed nothing', () => {
    const stream = streamNamed('credit_limit_outcomes')
    const changes = rows(stream, 'credit_limit_changes')
    expect(rows(stream, 'credit_limit_outcomes').length).toBeGreaterThan(changes.length)
    expect(changes.at(-1)).toMatchObject({
      email: 'ana@acme.example',
      previous_credit_limit: 500,
      credit_limit: 2000,
      plan_id: '0123456789abcdef',
      policy_version: '5d1e0a7c9b3f',
      approved_by: 'cy@acme.example',
      rule: 'override',
    })
    const [table] = stream.tables.filter(({ name }) => name === 'credit_limit_changes')
    const [applied] = fixtureOf(stream)
    const again = { ...(applied as object), limit: 5, previousLimit: 5, outcome: 'applied' }
    expect(table?.read(again as never).rows).toEqual([])
  })

  it('hold the settings of a revision whole, and the flags that people filter by', () => {
    const revisions = rows(streamNamed('enterprise_control_revisions'), 'enterprise_control_revisions')
    expect(revisions[0]).toMatchObject({
      revision: 1,
      user_email: 'ana@acme.example',
      settings: '{}',
      sandbox_enabled: null,
    })
    expect(revisions[1]).toMatchObject({
      updated_at: Date.UTC(2025, 2, 5, 16, 45, 12, 345),
      sandbox_enabled: true,
      session_retention_days: 90,
      model_policy_allow_all_platform_models: false,
    })
    expect(JSON.parse(revisions[1]!.settings as string)).toEqual(
      fixtureOf({ name: 'enterprise_control_revisions' })[1]!.settings,
    )
  })
})
