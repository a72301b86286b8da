-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select report_id, app_path
from {{ ref('readiness_apps_current') }}
group by report_id, app_path
having count(*) > 1
