-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select report_id, created_at, repo_url, commit_hash, branch, has_local_changes, has_non_remote_commits, model_used_id, model_used_reasoning_effort, agent_version, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid, valid_from, valid_to
from (
  select *, _synced_at as valid_from, lead(_synced_at) over (partition by report_id order by _synced_at, _sequence) as valid_to
  from {{ source('platform_sync', 'readiness_reports') }}
) as versions
where _op = 'upsert' and (valid_to is null or valid_to > valid_from)
