"""What satisfies the ports: one folder, one technology. Import an adapter from its own folder."""
