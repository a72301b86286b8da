-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select child.session_id, child.message_id, child.position, child.type, child.text, child.block_id, child.text_length, child.bytes, child.attachments, child.attachment_type, child.attachment_bytes, child.attachment_sha256, child.body, child.role, child.created_at, child._op, child._run_id, child._scan_id, child._sequence, child._synced_at, child._hash, child._extra, child._invalid, parent.valid_from, parent.valid_to
from {{ source('platform_sync', 'message_blocks') }} as child
join {{ ref('session_messages_history') }} as parent
  on parent.session_id = child.session_id and parent.message_id = child.message_id and parent._scan_id = child._scan_id and parent._sequence = child._sequence
