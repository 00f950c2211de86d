# Sized by concurrent conversations.
variable "concurrent_conversations" {
  type = number
}

variable "conversations_each" {
  description = "Conversations that one replica is planned for."
  type        = number
  default     = 50
}

locals {
  most = max(3, ceil(var.concurrent_conversations / var.conversations_each))
}

output "scales_with" {
  value = "concurrent conversations"
}

output "services" {
  value = {
    edge      = { scaling = { min = 2, max = local.most, cpu = 60 } }
    turn      = { scaling = { min = 2, max = local.most * 2, cpu = 60 } }
    retrieval = { scaling = { min = 2, max = local.most, cpu = 60 } }
  }
}
