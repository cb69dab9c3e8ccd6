"""How a server lives on two pipes."""
