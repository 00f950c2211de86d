"""The demo company's intranet as its people see it: server-made pages that mount the assistant."""
