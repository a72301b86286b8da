-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select revision, entry_sequence, previous_revision, previous_entry_sequence, position, path, kind, before, after, secret, user_id, user_email, user_name, updated_at, severity, rules, why, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid
from (
  select *, row_number() over (partition by entry_sequence, previous_entry_sequence, position order by _synced_at desc, _sequence desc) as _age
  from {{ source('platform_sync', 'enterprise_setting_changes') }}
) as versions
where _age = 1 and _op = 'upsert'
