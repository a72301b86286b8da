-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select id, name, provider_type, created_at, hostname, status, relay_client_url, relay_agent_url, remote_user, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid, valid_from, valid_to
from (
  select *, _synced_at as valid_from, lead(_synced_at) over (partition by id order by _synced_at, _sequence) as valid_to
  from {{ source('platform_sync', 'computers') }}
) as versions
where _op = 'upsert' and (valid_to is null or valid_to > valid_from)
