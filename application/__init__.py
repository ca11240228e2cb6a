"""What Memstrata does, one module per kind of work; `service.py` is the façade before it."""
