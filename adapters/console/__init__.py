"""What people see in a terminal, and the JSON that programs read."""
