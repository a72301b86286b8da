-- Generated from lib/streams/ by `npm run docs`; a test keeps it fresh.
{% macro utc_now() %}{{ return(adapter.dispatch('utc_now', 'platform_sync')()) }}{% endmacro %}
{% macro default__utc_now() %}{{ return(dbt.current_timestamp()) }}{% endmacro %}
{% macro duckdb__utc_now() %}{{ return("now() at time zone 'UTC'") }}{% endmacro %}
{% macro athena__utc_now() %}{{ return("cast(now() at time zone 'UTC' as timestamp)") }}{% endmacro %}
