-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select child.report_id, child.criterion_id, child.numerator, child.denominator, child.rationale, child.created_at, child.repo_url, child._op, child._run_id, child._scan_id, child._sequence, child._synced_at, child._hash, child._extra, child._invalid, parent.valid_from, parent.valid_to
from {{ source('platform_sync', 'readiness_criteria') }} as child
join {{ ref('readiness_reports_history') }} as parent
  on parent.report_id = child.report_id and parent._scan_id = child._scan_id and parent._sequence = child._sequence
