"""The learned second opinion: a small linear model on runs of characters, and what it may propose.

`model.json`, `features.txt` and `weights.bin` are written by `training/train.py`.
"""
