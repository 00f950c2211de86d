# Each part is sized by what drives it, and by nothing else.
variables {
  topology = "SELF_HOSTED"
}

run "more_conversations" {
  command = plan

  variables {
    concurrent_conversations = 1000
  }

  assert {
    condition     = module.request_path.services.edge.scaling.max == 20
    error_message = "The request path grows with concurrent conversations."
  }

  assert {
    condition     = module.index_pipeline.services.indexing.scaling.max == 2
    error_message = "Indexing does not grow with conversations."
  }
}

run "more_churn" {
  command = plan

  variables {
    documents_changed_per_hour = 20000
  }

  assert {
    condition     = module.index_pipeline.services.indexing.scaling.max == 10
    error_message = "Indexing grows with churn."
  }

  assert {
    condition     = module.request_path.services.edge.scaling.max == 4
    error_message = "The request path does not grow with churn."
  }

  assert {
    condition     = module.index_pipeline.isolation == "separate_node_pool" && length(module.index_pipeline.services.indexing.tolerations) == 1
    error_message = "Indexing has a node pool of its own."
  }
}

run "ambient_never_passes_its_ceiling" {
  command = plan

  variables {
    editors         = 100000
    ambient_ceiling = 3
  }

  assert {
    condition     = module.ambient.services.ambient.scaling.max == 3
    error_message = "The ceiling is hard."
  }
}

run "renderers" {
  command = plan

  assert {
    condition     = module.render_workers.node_type == "high_memory" && module.render_workers.isolation == "sandboxed" && module.render_workers.filesystem == "writable_scratch"
    error_message = "Renderers: much memory, sandboxed, a scratch folder."
  }

  assert {
    condition     = module.data_plane.values.services["rendering"].runtimeClassName == "gvisor" && module.data_plane.values.services["rendering"].scratch == "4Gi"
    error_message = "The chart is told so."
  }
}

run "residency_leaves_some" {
  command = plan

  variables {
    model_providers = { here = { region = "eu" }, there = { region = "us" } }
    residency       = ["eu"]
  }

  assert {
    condition     = output.allowed_providers == tolist(["here"])
    error_message = "Only providers of the region are allowed."
  }

  assert {
    condition     = module.data_plane.values.env.COGNI_RESIDENCY == "eu"
    error_message = "The services are told so."
  }
}

run "residency_outranks_being_up" {
  command = plan

  variables {
    model_providers = { there = { region = "us" } }
    residency       = ["eu"]
  }

  expect_failures = [output.allowed_providers]
}

run "a_service_of_no_chart" {
  command = plan

  variables {
    images = { gateway = { repository = "cogni/gateway", tag = "1" } }
  }

  expect_failures = [var.images]
}
