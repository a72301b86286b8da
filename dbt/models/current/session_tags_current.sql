-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select child.*
from {{ source('platform_sync', 'session_tags') }} as child
join {{ ref('sessions_current') }} as parent
  on parent.session_id = child.session_id and parent._scan_id = child._scan_id and parent._sequence = child._sequence
