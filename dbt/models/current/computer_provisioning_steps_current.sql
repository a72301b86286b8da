-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select child.*
from {{ source('platform_sync', 'computer_provisioning_steps') }} as child
join {{ ref('computers_current') }} as parent
  on parent.id = child.computer_id and parent._scan_id = child._scan_id and parent._sequence = child._sequence
