-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select session_id, message_id, role, created_at, updated_at, parent_id, visibility, vendor_message_id, vendor_phase, vendor_encrypted_content, vendor_reasoning_id, vendor_reasoning_summary, alt_vendor_thought_signature, chat_completion_reasoning_field, chat_completion_reasoning_content, is_user_visible, is_error, text, text_length, blocks, other_blocks, other_bytes, attachments, attachment_bytes, _op, _run_id, _scan_id, _sequence, _synced_at, _hash, _extra, _invalid
from (
  select *, row_number() over (partition by session_id, message_id order by _synced_at desc, _sequence desc) as _age
  from {{ source('platform_sync', 'session_messages') }}
) as versions
where _age = 1 and _op = 'upsert'
