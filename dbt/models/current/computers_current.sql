-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select id, name, provider_type, created_at, hostname, status, relay_client_url, relay_agent_url, remote_user, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid
from (
  select *, row_number() over (partition by id order by _synced_at desc, _sequence desc) as _age
  from {{ source('platform_sync', 'computers') }}
) as versions
where _age = 1 and _op = 'upsert'
