-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select child.*
from {{ source('platform_sync', 'readiness_criteria') }} as child
join {{ ref('readiness_reports_current') }} as parent
  on parent.report_id = child.report_id and parent._scan_id = child._scan_id and parent._sequence = child._sequence
