# What touches content: every service but, where the control plane is ours, the console.
variable "boundary" {
  type = string
}

variable "images" {
  type = map(object({ repository = string, tag = string }))
}

variable "sizes" {
  type = any
}

variable "servers" {
  type = any
}

variable "secrets" {
  type = list(string)
}

variable "kafka" {
  type = string
}

variable "env" {
  type = map(string)
}

variable "console" {
  type = bool
}

locals {
  all = ["embedded", "edge", "turn", "retrieval", "indexing", "ambient", "rendering", "event-sink", "console"]
  run = [for name in keys(var.images) : name if name != "console" || var.console]
}

output "boundary" {
  value = var.boundary
}

output "values" {
  value = {
    env     = var.env
    secrets = var.secrets
    servers = var.servers
    kafka   = { bootstrapServers = var.kafka }
    services = {
      for name in local.all : name => merge(
        try(var.sizes[name], {}),
        { enabled = contains(local.run, name) },
        contains(local.run, name) ? { image = var.images[name] } : {},
      )
    }
  }
}
