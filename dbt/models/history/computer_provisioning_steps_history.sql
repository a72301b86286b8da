-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select child.computer_id, child.position, child.step_id, child.name, child.status, child.error, child.install_session_id, child.started_at, child.completed_at, child._op, child._run_id, child._scan_id, child._sequence, child._synced_at, child._hash, child._extra, child._invalid, parent.valid_from, parent.valid_to
from {{ source('platform_sync', 'computer_provisioning_steps') }} as child
join {{ ref('computers_history') }} as parent
  on parent.id = child.computer_id and parent._scan_id = child._scan_id and parent._sequence = child._sequence
