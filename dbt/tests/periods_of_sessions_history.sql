-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
select session_id, valid_from, valid_to, next_from
from (
  select session_id, valid_from, valid_to, lead(valid_from) over (partition by session_id order by valid_from) as next_from
  from {{ ref('sessions_history') }}
) as versions
where valid_to <= valid_from or next_from < valid_to or (valid_to is null and next_from is not null)
