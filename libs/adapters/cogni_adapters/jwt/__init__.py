"""Host tokens: JSON Web Tokens that the host product signs."""
