"""Search in OpenSearch: two adapters on one client."""
