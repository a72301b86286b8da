-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select event_id, event_name, session_id, reason, message, cwd, host, agent_version, occurred_at, received_at, stored_at, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid
from (
  select *, row_number() over (partition by event_id order by _synced_at desc, _sequence desc) as _age
  from {{ source('platform_sync', 'hook_events') }}
) as versions
where _age = 1 and _op = 'upsert'
