# Much memory, sandboxed, a scratch folder that can be written.
variable "render_jobs" {
  type = number
}

variable "runtime_class" {
  description = "The cluster's sandbox."
  type        = string
  default     = "gvisor"
}

output "node_type" {
  value = "high_memory"
}

output "isolation" {
  value = "sandboxed"
}

output "filesystem" {
  value = "writable_scratch"
}

output "services" {
  value = {
    rendering = {
      nodeSelector     = { "cogni.build/memory" = "high" }
      runtimeClassName = var.runtime_class
      scratch          = "4Gi"
      scaling          = { min = 1, max = max(2, var.render_jobs), cpu = 80 }
    }
  }
}
