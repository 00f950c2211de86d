"""How source systems are asked over HTTP: politely, within bounds, and never believed beyond what they say."""
