# Where content may be processed is a hard constraint: it outranks being up.
variable "offered" {
  type = map(object({ region = string }))
}

variable "residency" {
  type = list(string)
}

locals {
  allowed = sort([
    for name, provider in var.offered : name
    if length(var.residency) == 0 || contains(var.residency, provider.region)
  ])
}

output "providers" {
  value = local.allowed
}

output "env" {
  value = length(var.residency) == 0 ? {} : { COGNI_RESIDENCY = join(",", var.residency) }
}
