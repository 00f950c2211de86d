"""What an assistant is told, and by whom."""
