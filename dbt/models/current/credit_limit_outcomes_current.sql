-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select outcome_id, request_id, requested_at, requested_by, source, entry_index, email, email_as_written, credit_limit, previous_credit_limit, outcome, reason, api_call, recorded_at, source_kind, plan_id, policy_version, approved_by, rule, why, until, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid
from (
  select *, row_number() over (partition by outcome_id order by _synced_at desc, _sequence desc) as _age
  from {{ source('platform_sync', 'credit_limit_outcomes') }}
) as versions
where _age = 1 and _op = 'upsert'
