-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select report_id, criterion_id
from {{ ref('readiness_criteria_current') }}
group by report_id, criterion_id
having count(*) > 1
