"""What the product needs from outside, one module a port; adapters satisfy them."""
