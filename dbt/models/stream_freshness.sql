-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select stream, max(complete_at) as complete_at, max(finished_at) as finished_at
from {{ source('platform_sync_runs', '_runs') }}
group by stream
