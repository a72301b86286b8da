import { type Column, columnsOf, metaColumns, type Table } from './table.ts'

/**
 * The names that each table's own columns have had, oldest first: a column's id is its place in the list, from 1. Iceberg
 * finds a column in old files by its id alone, so that a list only ever grows at its end, and a column that is gone keeps its
 * place.
 */
const given: { readonly [table: string]: string } = {
  readiness_reports: `
    report_id created_at repo_url commit_hash branch has_local_changes has_non_remote_commits model_used_id
    model_used_reasoning_effort agent_version`,
  readiness_criteria: `
    report_id criterion_id numerator denominator rationale created_at repo_url`,
  readiness_apps: `
    report_id app_path description created_at repo_url`,
  sessions: `
    session_id status message_count created_at updated_at completed_at title computer_id model reasoning_effort
    interaction_mode autonomy_level autonomy_mode spec_mode_model spec_mode_reasoning_effort provider_lock
    provider_lock_timestamp api_provider_lock assistant_active_time_ms token_usage_input_tokens
    token_usage_output_tokens token_usage_cache_creation_tokens token_usage_cache_read_tokens
    token_usage_thinking_tokens token_usage_platform_credits inclusive_token_usage_input_tokens
    inclusive_token_usage_output_tokens inclusive_token_usage_cache_creation_tokens
    inclusive_token_usage_cache_read_tokens inclusive_token_usage_thinking_tokens
    inclusive_token_usage_platform_credits child_inclusive_token_usage_by_session_id archived_at tags
    enabled_tool_ids disabled_tool_ids`,
  session_tags: `
    session_id position name metadata`,
  organization_users: `
    id email created_at first_name last_name last_sign_in_at metadata`,
  enterprise_control_revisions: `
    revision updated_at user_id user_email user_name settings max_autonomy_level cloud_session_sync
    enable_agent_shield model_policy_allow_custom_models model_policy_allow_all_platform_models
    mcp_policy_enabled mission_policy_restricted_access sandbox_enabled restrict_member_visibility
    restrict_api_key_creation_to_managers managed_computers_enabled byom_computers_enabled
    session_retention_days`,
  enterprise_setting_changes: `
    revision entry_sequence previous_revision previous_entry_sequence position path kind before after secret
    user_id user_email user_name updated_at severity rules why`,
  audit_findings: `
    finding kind severity observed_at revision revision_to entry_sequence place message observed_run_id
    finding_hash`,
  computers: `
    id name provider_type created_at hostname status relay_client_url relay_agent_url remote_user`,
  computer_provisioning_steps: `
    computer_id position step_id name status error install_session_id started_at completed_at`,
  credit_limit_outcomes: `
    outcome_id request_id requested_at requested_by source entry_index email email_as_written credit_limit
    previous_credit_limit outcome reason api_call recorded_at source_kind plan_id policy_version approved_by rule why
    until`,
  credit_limit_changes: `
    outcome_id request_id requested_at requested_by source email email_as_written credit_limit previous_credit_limit
    recorded_at source_kind plan_id policy_version approved_by rule why until`,
  session_messages: `
    session_id message_id role created_at updated_at parent_id visibility vendor_message_id vendor_phase
    vendor_encrypted_content vendor_reasoning_id vendor_reasoning_summary alt_vendor_thought_signature
    chat_completion_reasoning_field chat_completion_reasoning_content is_user_visible is_error text text_length blocks
    other_blocks other_bytes attachments attachment_bytes`,
  message_blocks: `
    session_id message_id position type text block_id text_length bytes attachments attachment_type attachment_bytes
    attachment_sha256 body role created_at`,
  hook_events: `
    event_id event_name session_id reason message cwd host agent_version occurred_at received_at stored_at`,
}

/** The first id of the columns that every table carries: the same in all of them, beyond any table's own. */
const firstMetaId = 901
const metaNames = '_op _run_id _scan_id _sequence _synced_at _hash _extra _invalid'

/** A column and the number by which Parquet and Iceberg know it. */
export type IdentifiedColumn = Column & { readonly id: number }

/**
 * All columns of a table with their ids, in the order they are written.
 * @throws TypeError for a column that was given none: a mistake in the declaration.
 */
export function identifiedColumnsOf(table: Table): readonly IdentifiedColumn[] {
  return columnsOf(table).map((column) => ({ ...column, id: idOf(table, column) }))
}

function idOf({ name: table }: Table, column: Column): number {
  const meta = metaColumns.includes(column)
  const names = meta ? metaNames : (given[table] ?? '')
  const at = names.trim().split(/\s+/).indexOf(column.name)
  if (at >= 0) return at + (meta ? firstMetaId : 1)
  throw new TypeError(
    `${table}.${column.name} has no field id: add it at the end of its list in lib/streams/field-ids.ts`,
  )
}
