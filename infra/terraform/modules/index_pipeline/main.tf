# Sized by the churn of the corpus, on nodes of its own.
variable "documents_changed_per_hour" {
  type = number
}

variable "pool" {
  description = "Label and taint of the node pool, `cogni.build/pool`."
  type        = string
  default     = "indexing"
}

output "scales_with" {
  value = "corpus churn"
}

output "isolation" {
  value = "separate_node_pool"
}

output "services" {
  value = {
    indexing = {
      nodeSelector = { "cogni.build/pool" = var.pool }
      tolerations  = [{ key = "cogni.build/pool", operator = "Equal", value = var.pool, effect = "NoSchedule" }]
      scaling      = { min = 1, max = max(2, ceil(var.documents_changed_per_hour / 2000)), cpu = 80 }
    }
  }
}
