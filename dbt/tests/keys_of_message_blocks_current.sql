-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select session_id, message_id, position
from {{ ref('message_blocks_current') }}
group by session_id, message_id, position
having count(*) > 1
