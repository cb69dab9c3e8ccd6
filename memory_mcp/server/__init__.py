"""The protocol face: what a host sees of the memory."""
