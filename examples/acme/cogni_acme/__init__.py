"""The demo company: its people, its content, its systems and the tools over them."""
