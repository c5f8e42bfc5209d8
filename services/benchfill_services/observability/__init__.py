"""What a service says of itself while it runs: log lines and traces, never a secret in them."""
