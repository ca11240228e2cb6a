"""Everything that touches a technology: databases, models, protocols. It serves the domain's ports."""
