-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select child.session_id, child.position, child.name, child.metadata, child._op, child._run_id, child._scan_id, child._sequence, child._synced_at, child._hash, child._extra, child._invalid, parent.valid_from, parent.valid_to
from {{ source('platform_sync', 'session_tags') }} as child
join {{ ref('sessions_history') }} as parent
  on parent.session_id = child.session_id and parent._scan_id = child._scan_id and parent._sequence = child._sequence
