-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select entry_sequence, previous_entry_sequence, position
from {{ ref('enterprise_setting_changes_current') }}
group by entry_sequence, previous_entry_sequence, position
having count(*) > 1
