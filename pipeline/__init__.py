"""From a turn's text to signals, candidates and decisions: pure functions over tables."""
