-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select session_id, status, message_count, created_at, updated_at, completed_at, title, computer_id, model, reasoning_effort, interaction_mode, autonomy_level, autonomy_mode, spec_mode_model, spec_mode_reasoning_effort, provider_lock, provider_lock_timestamp, api_provider_lock, assistant_active_time_ms, token_usage_input_tokens, token_usage_output_tokens, token_usage_cache_creation_tokens, token_usage_cache_read_tokens, token_usage_thinking_tokens, token_usage_platform_credits, inclusive_token_usage_input_tokens, inclusive_token_usage_output_tokens, inclusive_token_usage_cache_creation_tokens, inclusive_token_usage_cache_read_tokens, inclusive_token_usage_thinking_tokens, inclusive_token_usage_platform_credits, child_inclusive_token_usage_by_session_id, archived_at, tags, enabled_tool_ids, disabled_tool_ids, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid
from (
  select *, row_number() over (partition by session_id order by _synced_at desc, _sequence desc) as _age
  from {{ source('platform_sync', 'sessions') }}
) as versions
where _age = 1 and _op = 'upsert'
