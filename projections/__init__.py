"""What can be read: pure folds of events into rows. Rebuilding them twice gives identical rows."""
