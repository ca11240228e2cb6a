"""The commands, one module for each kind of job. Heavy modules are imported when a command runs."""
