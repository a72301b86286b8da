-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select revision, updated_at, user_id, user_email, user_name, settings, max_autonomy_level, cloud_session_sync, enable_agent_shield, model_policy_allow_custom_models, model_policy_allow_all_platform_models, mcp_policy_enabled, mission_policy_restricted_access, sandbox_enabled, restrict_member_visibility, restrict_api_key_creation_to_managers, managed_computers_enabled, byom_computers_enabled, session_retention_days, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid
from (
  select *, row_number() over (partition by revision order by _synced_at desc, _sequence desc) as _age
  from {{ source('platform_sync', 'enterprise_control_revisions') }}
) as versions
where _age = 1 and _op = 'upsert'
