# Sized by editing activity, under a hard ceiling.
variable "editors" {
  type = number
}

variable "ceiling" {
  type = number

  validation {
    condition     = var.ceiling >= 1
    error_message = "The ceiling is at least 1; leave ambient's image out to switch it off."
  }
}

output "scales_with" {
  value = "editing activity"
}

output "ceiling" {
  value = var.ceiling
}

output "services" {
  value = {
    ambient = { scaling = { min = 1, max = min(var.ceiling, max(1, ceil(var.editors / 25))), cpu = 80 } }
  }
}
