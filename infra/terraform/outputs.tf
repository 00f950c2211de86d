output "crosses_boundary" {
  description = "What leaves the customer's boundary."
  value = {
    corpus_at_rest = var.topology == "MANAGED"
    transcripts    = var.topology == "MANAGED"
    # A labelled set is built from real questions against real content: it is as sensitive as both.
    # (One type for both answers of a condition: jsondecode keeps true a boolean.)
    labelled_sets = jsondecode(var.topology == "MANAGED" ? "true" : "\"opt-in\"")
  }
}

output "data_plane_boundary" {
  description = "Whose boundary the data plane is within: customer or provider."
  value       = module.data_plane.boundary
}

output "allowed_providers" {
  description = "Providers that residency leaves."
  value       = module.model_route.providers

  precondition {
    condition     = length(var.model_providers) == 0 || length(module.model_route.providers) > 0
    error_message = "residency leaves no provider: name one of these regions, or none at all for the local reader."
  }
}

output "data_plane_values" {
  description = "Values of the chart for the data plane's release."
  value       = yamlencode(module.data_plane.values)
}

output "control_plane_values" {
  description = "Values of the chart for the control plane's release; null where there is none."
  value       = one([for plane in module.control_plane : yamlencode(plane.values)])
}
