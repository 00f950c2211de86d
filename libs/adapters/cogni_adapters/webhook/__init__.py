"""Events as signed webhooks, and the secrets that sign them."""
