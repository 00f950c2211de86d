"""Search in PostgreSQL: vectors by pgvector, and terms. Tables of rows stand in `database`."""
