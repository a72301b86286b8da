-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
{{ config(severity = 'warn') }}
select stream, complete_at
from {{ ref('stream_freshness') }}
where complete_at is null or complete_at < {{ dbt.dateadd('hour', -1 * var('platform_sync_hours', 26), '(' ~ platform_sync.utc_now() ~ ')') }}
