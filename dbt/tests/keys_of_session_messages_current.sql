-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select session_id, message_id
from {{ ref('session_messages_current') }}
group by session_id, message_id
having count(*) > 1
