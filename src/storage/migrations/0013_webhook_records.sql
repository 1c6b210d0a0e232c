-- What operators read of webhooks, deliveries and replays.

-- Attempts of the last minutes, for the overview. They are written in the order of time, so a few bytes per megabyte do.
create index attempts_times on attempts using brin (created_at) with (pages_per_range = 32, autosummarize = on);

-- A job by its id alone, and jobs of all webhooks newest first.
create index replays_id on replays (id);
