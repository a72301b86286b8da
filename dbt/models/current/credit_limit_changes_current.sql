-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select child.*
from {{ source('platform_sync', 'credit_limit_changes') }} as child
join {{ ref('credit_limit_outcomes_current') }} as parent
  on parent.outcome_id = child.outcome_id and parent._scan_id = child._scan_id and parent._sequence = child._sequence
