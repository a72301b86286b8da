-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select id, valid_from, valid_to, next_from
from (
  select id, valid_from, valid_to, lead(valid_from) over (partition by id order by valid_from) as next_from
  from {{ ref('computers_history') }}
) as versions
where valid_to <= valid_from or next_from < valid_to or (valid_to is null and next_from is not null)
