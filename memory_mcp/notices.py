"""Who is told that memories changed: subscribers of both protocol eras, for this process's changes and for others'."""
