"""What tests share: stand-ins for what costs money, and nothing of our own."""
