"""The product's own database, SQLite or PostgreSQL, through SQLAlchemy Core."""
