"""Games and records in the browser: `manyhands serve`. It needs the extra `web`."""
