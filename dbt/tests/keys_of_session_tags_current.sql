-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select session_id, position
from {{ ref('session_tags_current') }}
group by session_id, position
having count(*) > 1
