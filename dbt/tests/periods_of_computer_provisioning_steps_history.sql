-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select computer_id, position, valid_from, valid_to, next_from
from (
  select computer_id, position, valid_from, valid_to, lead(valid_from) over (partition by computer_id, position order by valid_from) as next_from
  from {{ ref('computer_provisioning_steps_history') }}
) as versions
where valid_to <= valid_from or next_from < valid_to or (valid_to is null and next_from is not null)
