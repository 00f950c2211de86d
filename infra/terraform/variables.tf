variable "topology" {
  description = "Who runs what: SELF_HOSTED (all of it within the customer's boundary), HYBRID (the control plane is ours), MANAGED (all of it is ours)."
  type        = string

  validation {
    condition     = contains(["SELF_HOSTED", "HYBRID", "MANAGED"], var.topology)
    error_message = "topology is one of SELF_HOSTED, HYBRID and MANAGED."
  }
}

variable "images" {
  description = "The services that run, by the chart's names, and the image of each."
  type        = map(object({ repository = string, tag = string }))
  default     = {}

  validation {
    condition = alltrue([for name in keys(var.images) : contains(
      ["embedded", "edge", "turn", "retrieval", "indexing", "ambient", "rendering", "event-sink", "console"], name
    )])
    error_message = "images names services of the chart alone."
  }
}

variable "residency" {
  description = "Regions where content may be processed; none: anywhere."
  type        = list(string)
  default     = []
}

variable "model_providers" {
  description = "Language model providers, by name, and the region that each processes in."
  type        = map(object({ region = string }))
  default     = {}
}

variable "concurrent_conversations" {
  description = "Answers that stream at one time, at the peak."
  type        = number
  default     = 200

  validation {
    condition     = var.concurrent_conversations >= 1
    error_message = "concurrent_conversations is at least 1."
  }
}

variable "documents_changed_per_hour" {
  description = "Churn of the corpus at the peak, not its size."
  type        = number
  default     = 2000

  validation {
    condition     = var.documents_changed_per_hour >= 0
    error_message = "documents_changed_per_hour is not negative."
  }
}

variable "editors" {
  description = "Persons who edit at one time where an ambient surface watches."
  type        = number
  default     = 50
}

variable "ambient_ceiling" {
  description = "Replicas that ambient work never passes, whatever the activity."
  type        = number
  default     = 4
}

variable "render_jobs" {
  description = "Renderings at one time, at the peak."
  type        = number
  default     = 4
}

variable "servers" {
  description = "Servers that services use, as in the chart's `servers`."
  type        = any
  default     = {}
}

variable "secrets" {
  description = "Names of the Secrets that services read their credentials from."
  type        = list(string)
  default     = []
}

variable "kafka_bootstrap_servers" {
  description = "Where lag is read from, for scaling."
  type        = string
  default     = ""
}
