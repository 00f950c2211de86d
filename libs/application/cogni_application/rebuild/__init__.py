"""An index made anew beside the one that serves, and the pointer moved when it is as good."""
