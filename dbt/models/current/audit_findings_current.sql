-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select finding, kind, severity, observed_at, revision, revision_to, entry_sequence, place, message, observed_run_id, finding_hash, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid
from (
  select *, row_number() over (partition by finding order by _synced_at desc, _sequence desc) as _age
  from {{ source('platform_sync', 'audit_findings') }}
) as versions
where _age = 1 and _op = 'upsert'
