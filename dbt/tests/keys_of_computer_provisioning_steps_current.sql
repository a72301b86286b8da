-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select computer_id, position
from {{ ref('computer_provisioning_steps_current') }}
group by computer_id, position
having count(*) > 1
