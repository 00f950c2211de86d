# What administers and reads no content: the console.
variable "images" {
  type = map(object({ repository = string, tag = string }))
}

variable "servers" {
  type = any
}

variable "secrets" {
  type = list(string)
}

output "values" {
  value = {
    secrets         = var.secrets
    servers         = var.servers
    priorityClasses = { prefix = "cogni-control-" }
    services = {
      embedded = { enabled = false }
      console  = merge({ enabled = contains(keys(var.images), "console") }, try({ image = var.images["console"] }, {}))
    }
  }
}
